#include "obolus/data/pictures.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "data/durable_file.hpp"
#include "data/idx.hpp"
#include "obolus/core/error.hpp"
#include "obolus/data/newsgroups.hpp"

namespace obolus {

std::string pictures_folder(PictureSet set) { return fmt::format("{}/{}", data_folder(), name_of(set)); }

LabelledPictures load_pictures(PictureSet set) {
  const std::string folder = pictures_folder(set),
                    remedy = fmt::format("obolus data get {} [--from PATH]", name_of(set));
  std::error_code none;
  if (!std::filesystem::exists(folder, none))
    throw DataError(fmt::format("{}: not found at {}; to fetch it:\n  {}", name_of(set), folder, remedy));
  try {
    const auto read = [&](std::size_t pictures) {
      const std::string of_pictures = fmt::format("{}/{}", folder, idx_names[pictures]);
      const std::string of_labels = fmt::format("{}/{}", folder, idx_names[pictures + 1]);
      const std::string grey = read_whole_file(of_pictures, max_idx_file),
                        label = read_whole_file(of_labels, max_idx_file);
      return pictures_of_idx({of_pictures, grey}, {of_labels, label}, 10);
    };
    LabelledPictures all{read(0), read(2)};
    if (all.train.height != all.test.height || all.train.width != all.test.width)
      throw DataError(fmt::format("{}: got pictures of {} by {} to test with, expected {} by {} as those to train on",
                                  folder, all.test.height, all.test.width, all.train.height, all.train.width));
    return all;
  } catch (const DataError& e) {
    throw DataError(fmt::format("{}; to fetch it again:\n  {}", e.what(), remedy));
  }
}

}  // namespace obolus
