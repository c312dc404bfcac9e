#include "obolus/data/pictures.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "data/idx.hpp"
#include "data/picture_files.hpp"
#include "data/sha256.hpp"
#include "obolus/core/error.hpp"
#include "tests/data/packed.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace obolus;
using test::packed;
using test::PackedFile;
using test::Packing;

template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const DataError& e) {
    return e.what();
  }
  return "accepted";
}

std::string word(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}
std::string idx(const std::vector<std::uint32_t>& sizes, const std::string& numbers, char type = 8) {
  std::string bytes{0, 0, type, static_cast<char>(sizes.size())};
  for (const std::uint32_t size : sizes) bytes += word(size);
  return bytes + numbers;
}

// ---- IDX ------------------------------------------------------------------------------------------------------------

TEST(Idx, SizesAndNumbersAreThoseOfTheFile) {
  const std::string bytes = idx({2, 3}, "abcdef");
  const IdxArray array = parse_idx(bytes, "here");
  EXPECT_EQ(array.sizes, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(array.numbers, "abcdef");
}

TEST(Idx, WhatIsNoIdxFileIsRefusedAndSaidWhy) {
  const auto of = [](const std::string& bytes) { return refusal([&] { (void)parse_idx(bytes, "here"); }); };
  EXPECT_EQ(of(""), "here: got 0 bytes, expected an IDX file");
  EXPECT_EQ(of("\x1f\x8b\x08\x01"), "here: does not begin with two 0 bytes, as an IDX file does");
  EXPECT_EQ(of(idx({1}, "a", 0x0D)), "here: got numbers of type 0x0d, expected 0x08, unsigned bytes");
  EXPECT_EQ(of(idx({}, "")), "here: got 0 sizes, expected 1 to 4");
  EXPECT_EQ(of(idx({1, 1, 1, 1, 1}, "a")), "here: got 5 sizes, expected 1 to 4");
  EXPECT_EQ(of(idx({7, 7}, "").substr(0, 11)), "here: ends within its sizes, after 11 bytes");
  EXPECT_EQ(of(idx({2, 3}, "abcde")), "here: got 5 numbers, expected 6 by its sizes");
  EXPECT_EQ(of(idx({2, 3}, "abcdefg")), "here: got 7 numbers, expected 6 by its sizes");
  EXPECT_EQ(of(idx({0, 0xFFFFFFFF, 0xFFFFFFFF}, "")), "here: got a size of 0, expected at least 1");
  EXPECT_EQ(of(idx({0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, "")),
            "here: got more than 134217728 numbers, expected at most that");
}

// No file that was cut short, and none of which a byte of the head was changed, is taken for what it was.
TEST(Idx, NoDamagedHeadIsAccepted) {
  const std::string whole = idx({3, 2, 2}, "abcdefghijkl");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(refusal([&] { (void)parse_idx(whole.substr(0, size), "here"); }), "accepted") << size;
  for (std::size_t i = 0; i < 16; ++i)
    for (int value = 0; value < 256; ++value) {
      std::string damaged = whole;
      if (damaged[i] == static_cast<char>(value)) continue;
      damaged[i] = static_cast<char>(value);
      ASSERT_NE(refusal([&] { (void)parse_idx(damaged, "here"); }), "accepted") << i << ' ' << value;
    }
}

TEST(Idx, PicturesHaveALabelEachAndNoOther) {
  const std::string grey = idx({2, 1, 3}, std::string("\0\x80\xFF"
                                                      "abc",
                                                      6)),
                    labels = idx({2}, std::string("\0\x09", 2));
  const Pictures pictures = pictures_of_idx({"p", grey}, {"l", labels}, 10);
  EXPECT_EQ(pictures.count(), 2);
  EXPECT_EQ(pictures.height, 1);
  EXPECT_EQ(pictures.width, 3);
  EXPECT_EQ(pictures.pixels, (std::vector<std::uint8_t>{0, 128, 255, 'a', 'b', 'c'}));
  EXPECT_EQ(pictures.label, (std::vector<std::uint8_t>{0, 9}));
  const auto of = [](const std::string& p, const std::string& l) {
    return refusal([&] { (void)pictures_of_idx({"p", p}, {"l", l}, 10); });
  };
  EXPECT_EQ(of(labels, labels), "p: got 1 sizes, expected 3: pictures, height and width");
  EXPECT_EQ(of(grey, grey), "l: got 3 sizes, expected 1: labels");
  EXPECT_EQ(of(grey, idx({1}, "\x01")), "l: got 1 labels, expected 2, one for each picture of p");
  EXPECT_EQ(of(grey, idx({2}, "\x01\x0A")), "l: label 1: got 10, expected 0 to 9");
}

// ---- Files ----------------------------------------------------------------------------------------------------------

const PictureFiles files{idx({2, 2, 2}, "abcdefgh"), idx({2}, "\x01\x02"), idx({1, 2, 2}, "ijkl"), idx({1}, "\x03")};

PictureDigests digests_of_files() {
  PictureDigests digests;
  for (std::size_t i = 0; i < 4; ++i) {
    Sha256 sum;
    sum.add(files[i].data(), files[i].size());
    digests[i] = sum.finish_in_hexadecimal();
  }
  return digests;
}

// What gzip makes of a file: an archive of tar.gz form is one too, so a raw one is made by the same library.
std::string gzipped(const std::string& content) {
  archive* a = archive_write_new();
  archive_write_set_format_raw(a);
  archive_write_add_filter_gzip(a);
  std::string out(content.size() + 1024, '\0');
  std::size_t used = 0;
  archive_write_open_memory(a, out.data(), out.size(), &used);
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, "file");
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_write_header(a, entry);
  archive_write_data(a, content.data(), content.size());
  archive_entry_free(entry);
  archive_write_close(a);
  archive_write_free(a);
  out.resize(used);
  return out;
}

TEST(PictureArchive, TheFourAreFoundByNameInWhateverTheyArePacked) {
  for (const Packing packing : {Packing::tar, Packing::tar_gz, Packing::zip})
    for (const bool single : {false, true})
      for (const char* dot : {"-", "."}) {
        std::vector<PackedFile> all{{"package/README", "other"}, {"package/data/", "", AE_IFDIR}};
        for (std::size_t i = 4; i-- > 0;) {
          std::string name(idx_names[i]);
          name.replace(name.find("-idx"), 1, dot);
          all.push_back({"package/data/" + name + (single ? ".gz" : ""), single ? gzipped(files[i]) : files[i]});
        }
        const std::string bytes = packed(all, packing);
        EXPECT_EQ(picture_files_of({"here", bytes}, digests_of_files()), files);
      }
}

TEST(PictureArchive, OneThatIsMissingTwiceThereOrAnotherIsRefusedByName) {
  const auto of = [](const std::vector<PackedFile>& all) {
    const std::string bytes = packed(all);
    return refusal([&] { (void)picture_files_of({"here", bytes}, digests_of_files()); });
  };
  std::vector<PackedFile> all;
  for (std::size_t i = 0; i < 3; ++i) all.push_back({std::string(idx_names[i]), files[i]});
  EXPECT_EQ(of(all), "here: has no t10k-labels-idx1-ubyte, expected it, or it with .gz");
  all.push_back({"a/train-labels-idx1-ubyte.gz", gzipped(files[1])});
  EXPECT_EQ(of(all), "here: has no t10k-labels-idx1-ubyte, expected it, or it with .gz") << "the same twice is once";
  all.back() = {"a/train-labels-idx1-ubyte.gz", gzipped(files[3])};
  EXPECT_EQ(of(all), "here: train-labels-idx1-ubyte: given twice with different content, expected one");
  all.back() = {std::string(idx_names[3]), files[2]};
  EXPECT_TRUE(of(all).starts_with("here: SHA-256 of t10k-labels-idx1-ubyte: got ")) << of(all);
  all.back() = {std::string(idx_names[3]) + ".gz", gzipped(files[3]).substr(0, 12)};
  EXPECT_NE(of(all), "accepted");
}

TEST(PictureFolder, AFolderServesAsWellAndOtherFilesInItArePassedOver) {
  const test::TemporaryFolder folder;
  for (std::size_t i = 0; i < 4; ++i)
    folder.write(std::string(idx_names[i]) + (i % 2 ? ".gz" : ""), i % 2 ? gzipped(files[i]) : files[i]);
  folder.write("notes.txt", "other");
  EXPECT_EQ(picture_files_of({folder.path(), {}}, digests_of_files()), files);
}

TEST(PictureFolder, WhatWasSavedIsLoadedAndWhatIsDamagedSaysHowToMendIt) {
  const test::TemporaryFolder folder;
  const char* before = std::getenv("OBOLUS_DATA");
  const std::string kept = before ? before : "";
  setenv("OBOLUS_DATA", folder.path().c_str(), 1);
  const auto load = [] { (void)load_pictures(PictureSet::fashion_mnist); };
  EXPECT_EQ(refusal(load), "fashion-mnist: not found at " + folder.path() +
                               "/fashion-mnist; to fetch it:\n  obolus data get fashion-mnist [--from PATH]");
  save_pictures(pictures_folder(PictureSet::fashion_mnist), files);
  const LabelledPictures all = load_pictures(PictureSet::fashion_mnist);
  EXPECT_EQ(all.train.count(), 2);
  EXPECT_EQ(all.test.count(), 1);
  EXPECT_EQ(all.train.pixels[4], 'e');
  EXPECT_EQ(all.test.label[0], 3);
  folder.write("fashion-mnist/t10k-images-idx3-ubyte", idx({1, 1, 1}, "x"));
  EXPECT_NE(refusal(load).find("got pictures of 1 by 1 to test with, expected 2 by 2"), std::string::npos)
      << refusal(load);
  folder.write("fashion-mnist/t10k-labels-idx1-ubyte", "");
  EXPECT_NE(refusal(load).find("to fetch it again:\n  obolus data get fashion-mnist"), std::string::npos)
      << refusal(load);
  if (before) setenv("OBOLUS_DATA", kept.c_str(), 1);
  else unsetenv("OBOLUS_DATA");
}

}  // namespace
