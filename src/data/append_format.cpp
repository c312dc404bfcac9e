#include "data/append_format.hpp"

namespace obolus {

void append_formatted(std::string& to, fmt::string_view format, fmt::format_args values) {
  fmt::memory_buffer text;  // on the stack up to 500 bytes
  fmt::vformat_to(fmt::appender(text), format, values);
  to.append(text.data(), text.size());
}

}  // namespace obolus
