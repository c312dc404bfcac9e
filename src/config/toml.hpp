// toml++, compiled once (toml.cpp) and into this library: whoever links us needs neither its headers nor its library.
#pragma once

#define TOML_EXCEPTIONS 1
#undef TOML_HEADER_ONLY
#define TOML_HEADER_ONLY 0
#include <toml++/toml.h>
