// toml++, compiled once (toml.cpp) into this library: programs that link it need neither the headers nor the library.
#pragma once

#define TOML_EXCEPTIONS 1
#undef TOML_HEADER_ONLY
#define TOML_HEADER_ONLY 0
#include <toml++/toml.h>
