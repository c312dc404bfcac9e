// Errors thrown while setting up and loading. `step` never throws: it returns a Status (status.hpp).
#pragma once

#include <stdexcept>
#include <string>

namespace obolus {

// Every message says what is wrong, what was got, what was expected and where.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The user's configuration or arguments are at fault.
class ConfigError : public Error {
 public:
  using Error::Error;
};

// A file's content is at fault: data, a checkpoint, a stream.
class DataError : public Error {
 public:
  using Error::Error;
};

}  // namespace obolus
