// The names of toml++ alone, for headers. The settings are those of config/toml.hpp.
#pragma once

#define TOML_EXCEPTIONS 1
#undef TOML_HEADER_ONLY
#define TOML_HEADER_ONLY 0
#if __has_include(<toml++/impl/forward_declarations.hpp>)
#include <toml++/impl/forward_declarations.hpp>
#else
#include <toml++/impl/forward_declarations.h>
#endif
