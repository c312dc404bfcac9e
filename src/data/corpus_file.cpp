#include "data/corpus_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>

#include "data/checksum.hpp"
#include "data/durable_file.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

constexpr std::string_view magic = "obolus corpus\n";
constexpr std::uint64_t version = 1;
constexpr std::size_t head_size = magic.size() + 2 * sizeof(std::uint64_t);
constexpr std::uint64_t max_file = std::uint64_t{1} << 30, max_term_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t max_number = std::numeric_limits<std::int32_t>::max();

void put_word(std::string& out, std::uint64_t word) {
  for (int i = 0; i < 8; ++i) out += static_cast<char>(word >> (8 * i));
}

std::uint64_t word_at(std::string_view bytes, std::size_t at) {
  std::uint64_t word = 0;
  for (std::size_t i = 8; i-- > 0;) word = (word << 8) | static_cast<unsigned char>(bytes[at + i]);
  return word;
}

void put(std::string& out, std::uint64_t n) {
  for (; n >= 0x80; n >>= 7) out += static_cast<char>(n | 0x80);
  out += static_cast<char>(n);
}

void put_names(std::string& out, const std::vector<std::string>& names) {
  put(out, names.size());
  std::string_view before;
  for (const std::string& name : names) {
    const auto differs = std::mismatch(name.begin(), name.end(), before.begin(), before.end()).first;
    const auto shared = to_size(differs - name.begin());
    put(out, shared);
    put(out, name.size() - shared);
    out.append(name, shared);
    before = name;
  }
}

void put_part(std::string& out, const TokenisedCorpus::Part& part) {
  put(out, part.label.size());
  for (std::size_t d = 0; d < part.label.size(); ++d) {
    put(out, static_cast<std::uint64_t>(part.label[d]));
    put(out, static_cast<std::uint64_t>(part.start[d + 1] - part.start[d]));
    std::int32_t before = -1;
    for (std::int64_t i = part.start[d]; i < part.start[d + 1]; ++i) {
      put(out, static_cast<std::uint64_t>(part.term[i] - before - 1));
      put(out, static_cast<std::uint64_t>(part.count[i] - 1));
      before = part.term[i];
    }
  }
}

// Checks every number before it is used: wrong bytes end in DataError, never in a read beyond them.
class Reader {
 public:
  Reader(std::string_view bytes, const std::string& name)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()), name_(name) {}

  [[noreturn]] void refuse(std::string_view what) const {
    throw DataError(fmt::format("{}: damaged: {}", name_, what));
  }

  std::uint64_t number(std::uint64_t max, const char* what) {
    std::uint64_t n = 0;
    for (int shift = 0; at_ != end_ && shift < 63; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      n |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte >= 0x80) continue;
      if (n <= max) return n;
      refuse(fmt::format("{}: got {}, expected at most {}", what, n, max));
    }
    refuse(fmt::format("{}: the file ends too early", what));
  }

  // Of things that take at least one byte each.
  std::size_t size(const char* what) {
    const std::uint64_t n = number(max_number, what);
    if (n > static_cast<std::uint64_t>(end_ - at_)) refuse(fmt::format("{}: the file ends too early", what));
    return n;
  }

  std::vector<std::string> names(const char* what) {
    std::vector<std::string> names(size(what));
    std::uint64_t total = 0;
    std::string_view before;
    for (std::string& name : names) {
      const std::size_t shared = number(before.size(), what), fresh = size(what);
      name.reserve(shared + fresh);
      name.assign(before.substr(0, shared)).append(at_, fresh);
      at_ += fresh;
      total += name.size();
      if (total > max_term_bytes) refuse("longer names than any corpus has");
      if (&name != names.data() && !(before < name)) refuse(fmt::format("{}: not in order", what));
      before = name;
    }
    return names;
  }

  TokenisedCorpus::Part part(std::size_t terms, std::size_t classes) {
    TokenisedCorpus::Part part;
    const std::size_t documents = size("documents");
    const auto max_entries = to_size(end_ - at_) / 2;
    part.term.reserve(max_entries);
    part.count.reserve(max_entries);
    for (std::size_t d = 0; d < documents; ++d) {
      part.label.push_back(static_cast<std::int32_t>(number(classes - 1, "label")));
      row(part, terms);
      part.start.push_back(static_cast<std::int64_t>(part.term.size()));
    }
    return part;
  }

  [[nodiscard]] bool done() const { return at_ == end_; }

 private:
  void row(TokenisedCorpus::Part& part, std::size_t terms) {
    const std::size_t entries = size("terms of a document");
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < entries; ++i) {
      if (next >= terms) refuse("term of a document: beyond the last");
      next += number(terms - 1 - next, "term of a document");
      part.term.push_back(static_cast<std::int32_t>(next++));
      part.count.push_back(static_cast<std::int32_t>(number(max_number - 1, "count") + 1));
    }
  }

  const char* at_;
  const char* end_;
  const std::string& name_;
};

}  // namespace

std::string to_bytes(const TokenisedCorpus& corpus) {
  std::string body;
  put_names(body, corpus.classes);
  put_names(body, corpus.terms);
  put_part(body, corpus.train);
  put_part(body, corpus.test);
  std::string out(magic);
  put_word(out, version);
  put_word(out, checksum(body.data(), body.size()));
  return out + body;
}

TokenisedCorpus corpus_of_bytes(std::string_view bytes, const std::string& name) {
  if (bytes.size() < head_size || !bytes.starts_with(magic)) throw DataError(name + ": not an Obolus corpus");
  const std::uint64_t written = word_at(bytes, magic.size());
  if (written != version)
    throw DataError(fmt::format("{}: a corpus of version {}, expected version {}", name, written, version));
  const std::string_view body = bytes.substr(head_size);
  Reader reader(body, name);
  if (checksum(body.data(), body.size()) != word_at(bytes, magic.size() + 8)) reader.refuse("its checksum is wrong");
  TokenisedCorpus corpus;
  corpus.classes = reader.names("classes");
  corpus.terms = reader.names("terms");
  if (corpus.classes.empty()) reader.refuse("no classes");
  corpus.train = reader.part(corpus.terms.size(), corpus.classes.size());
  corpus.test = reader.part(corpus.terms.size(), corpus.classes.size());
  if (!reader.done()) reader.refuse("there are bytes after the end");
  return corpus;
}

void save_corpus(const std::string& path, const TokenisedCorpus& corpus) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) throw DataError(fmt::format("{}: cannot be created: {}", folder.string(), error.message()));
  write_atomically(path, to_bytes(corpus));
}

TokenisedCorpus load_corpus(const std::string& path) { return corpus_of_bytes(read_whole_file(path, max_file), path); }

}  // namespace obolus
