// Labelled grey-scale pictures of the MNIST family: 60,000 to train on and 10,000 to test with, 28 by 28, ten classes.
// `obolus data get mnist` and `obolus data get fashion-mnist` fetch them once.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "obolus/core/options.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

struct Pictures {
  Index height = 0, width = 0;
  std::vector<std::uint8_t> pixels;  // picture by picture, row by row; 0 is the background
  std::vector<std::uint8_t> label;

  [[nodiscard]] Index count() const { return static_cast<Index>(label.size()); }
};

struct LabelledPictures {
  Pictures train, test;
  Index classes = 10;
};

enum class PictureSet : std::uint8_t { mnist, fashion_mnist };
template <>
struct EnumNames<PictureSet> {
  static constexpr std::array<std::pair<PictureSet, std::string_view>, 2> values{
      {{PictureSet::mnist, "mnist"}, {PictureSet::fashion_mnist, "fashion-mnist"}}};
};

// Where the files of the set are kept.
[[nodiscard]] std::string pictures_folder(PictureSet set);

// Throws DataError, with the command that fetches it, if the set is absent or its files have another form.
[[nodiscard]] LabelledPictures load_pictures(PictureSet set);

}  // namespace obolus
