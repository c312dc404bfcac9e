// Saving and restoring plain state, field by field, by name. One walk serves both ways:
//     void fields(Archive& a) { a("t", t); a("x", x); }
// Loading checks names, types and sizes before it trusts any byte.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {

static_assert(std::endian::native == std::endian::little, "the checkpoint format is little-endian");

class Archive {
 public:
  // An archive to save into.
  Archive() = default;
  // An archive to load from.
  explicit Archive(std::vector<std::byte> bytes) : bytes_(std::move(bytes)), loading_(true) {}

  [[nodiscard]] bool loading() const { return loading_; }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(std::string_view name, T& value) {
    header(name, type_tag<T>(), 1);
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = value ? 1 : 0;
      raw(&byte, sizeof byte);
      if (byte > 1) throw DataError("saved state: field '" + std::string(name) + "' is neither true nor false");
      value = byte == 1;
    } else {
      raw(&value, sizeof value);
    }
  }

  // An Eigen vector. Its size is fixed by the code that made the state: loading never resizes, it refuses.
  template <class V>
    requires requires(V& v) { v.derived().data(); }
  void operator()(std::string_view name, V& v) {
    using S = typename V::Scalar;
    header(name, type_tag<S>(), static_cast<std::uint64_t>(v.size()));
    raw(v.data(), to_size(v.size()) * sizeof(S));
  }

  // Text keeps its saved length; a length beyond the remaining bytes is refused before any allocation.
  void operator()(std::string_view name, std::string& text) {
    header(name, type_tag<char>(), 1);
    auto size = static_cast<std::uint64_t>(text.size());
    raw(&size, sizeof size);
    if (loading_) require(size, name);
    text.resize(size);
    raw(text.data(), size);
  }

  template <class T>
    requires requires(T& t, Archive& a) { t.fields(a); }
  void operator()(std::string_view name, T& part) {
    header(name, type_tag<std::uint8_t>(), 0);
    part.fields(*this);
  }

  // A field that older archives lack: they leave the value as it is.
  template <class T>
  void added(std::string_view name, T& value) {
    if (has(name)) (*this)(name, value);
  }
  // Whether the next field is this one, for state that older archives hold in another form. True when saving.
  [[nodiscard]] bool has(std::string_view name) const { return !loading_ || next_is(name); }

  void finish() const {
    if (loading_ && at_ != bytes_.size()) throw DataError("saved state: bytes left over after the last field");
  }

 private:
  template <class T>
  static constexpr char type_tag() {
    if constexpr (std::is_same_v<T, double>) return 'd';
    else if constexpr (std::is_same_v<T, float>) return 'f';
    else return static_cast<char>('0' + sizeof(T));
  }

  void header(std::string_view name, char tag, std::uint64_t count) {
    std::string expected(name);
    expected += '\0';
    expected += tag;
    if (!loading_) {
      write(expected.data(), expected.size());
      write(&count, sizeof count);
      return;
    }
    std::string got(expected.size(), '\0');
    read(got.data(), got.size(), name);
    if (got != expected) throw DataError("saved state: expected field '" + std::string(name) + "', found another one");
    std::uint64_t n = 0;
    read(&n, sizeof n, name);
    if (n != count)
      throw DataError("saved state: field '" + std::string(name) + "' has " + std::to_string(n) +
                      " numbers, expected " + std::to_string(count));
  }

  [[nodiscard]] bool next_is(std::string_view name) const {
    if (bytes_.size() - at_ <= name.size()) return false;
    return std::memcmp(bytes_.data() + at_, name.data(), name.size()) == 0 && bytes_[at_ + name.size()] == std::byte{0};
  }

  void raw(void* data, std::size_t size) {
    if (loading_) read(data, size, "data");
    else write(data, size);
  }

  void write(const void* data, std::size_t size) {
    if (size == 0) return;
    const std::size_t old = bytes_.size();
    bytes_.resize(old + size);
    std::memcpy(bytes_.data() + old, data, size);
  }

  void require(std::size_t size, std::string_view name) const {
    if (bytes_.size() - at_ < size) throw DataError("saved state ends early, in field '" + std::string(name) + "'");
  }

  void read(void* data, std::size_t size, std::string_view name) {
    require(size, name);
    if (size > 0) std::memcpy(data, bytes_.data() + at_, size);
    at_ += size;
  }

  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
  bool loading_ = false;
};

}  // namespace obolus
