// Let XLA evaluate a Stan program, which is included before this file as stanc has translated it.
//
// A library holds one program, with any number of models of it: the program with data, under a key that is a hash of
// these. Handlers are called by XLA's threads, several at once. Each thread has its own stack of automatic
// differentiation (STAN_THREADS), and parallel parts of a program run in the thread that calls, so that sums have one
// order.

#include <tbb/task_arena.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include <stan/io/array_var_context.hpp>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

using Real = Eigen::Map<const Eigen::VectorXd>;
using Reals = ffi::Buffer<ffi::F64>;
using Result = ffi::Result<ffi::Buffer<ffi::F64>>;

constexpr std::size_t kMaxMessages = 200;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The program with its data, and what it has said: each message once, with how often.
struct Model {
  std::unique_ptr<stan::model::model_base> program;
  std::map<std::string, std::int64_t> messages;
  std::mutex lock;

  std::size_t dim() const { return program->num_params_r(); }

  void note(const std::string& text) {
    const std::lock_guard<std::mutex> held(lock);
    const auto found = messages.find(text);
    if (found != messages.end()) {
      ++found->second;
    } else if (messages.size() < kMaxMessages) {
      messages.emplace(text, 1);
    }
  }
};

// Models stay for the life of the process: a compiled program knows no more of one than its key.
std::unordered_map<std::int64_t, std::unique_ptr<Model>> models;
std::shared_mutex models_lock;

Model* model_of(std::int64_t key) {
  const std::shared_lock<std::shared_mutex> held(models_lock);
  const auto found = models.find(key);
  return found == models.end() ? nullptr : found->second.get();
}

struct Thread {
  stan::math::ChainableStack stack;
  tbb::task_arena arena{1};
};

Thread& this_thread() {
  static thread_local Thread thread;
  return thread;
}

// What Stan says of an error, without the word with which it begins at times more than once.
std::string words_of(const std::exception& error) {
  const std::string prefix = "Exception: ";
  std::string text = error.what();
  while (text.compare(0, prefix.size(), prefix) == 0) text.erase(0, prefix.size());
  return text;
}

// Run in this thread alone, with a stack of automatic differentiation of its own; keep what the program prints.
template <typename F>
void evaluate(Model& model, F&& body) {
  Thread& thread = this_thread();
  std::ostringstream printed;
  const auto keep = [&] {
    stan::math::recover_memory();
    if (printed.tellp() > 0) model.note(printed.str());
  };
  try {
    thread.arena.execute([&] { body(&printed); });
  } catch (...) {
    keep();
    throw;
  }
  keep();
}

double value_at(Model& model, const double* x, bool jacobian) {
  double value = kNaN;
  evaluate(model, [&](std::ostream* out) {
    Eigen::VectorXd q = Real(x, model.dim());
    value = jacobian ? model.program->log_prob_jacobian(q, out) : model.program->log_prob(q, out);
  });
  return value;
}

double gradient_at(Model& model, const double* x, double* slope, bool jacobian) {
  double value = kNaN;
  evaluate(model, [&](std::ostream* out) {
    Eigen::Matrix<stan::math::var, -1, 1> q = Real(x, model.dim()).cast<stan::math::var>();
    stan::math::var found =
        jacobian ? model.program->log_prob_jacobian(q, out) : model.program->log_prob(q, out);
    value = found.val();
    stan::math::grad(found.vi_);
    for (std::size_t i = 0; i < model.dim(); ++i) slope[i] = q.coeff(i).adj();
  });
  return value;
}

// Call body(row) for each row. A domain error is one of the position, such as `reject`: `bad(row)` says what it gives.
// Any other exception is one of the program, such as an index out of range, and ends the run, as in Stan.
template <typename F, typename G>
ffi::Error each_row(std::int64_t key, std::size_t width, const Reals& x, F&& body, G&& bad) {
  Model* model = model_of(key);
  if (model == nullptr) return ffi::Error::Internal("a Stan program is not loaded in this process");
  const auto shape = x.dimensions();
  if (shape.size() == 0 || static_cast<std::size_t>(shape[shape.size() - 1]) != width) {
    return ffi::Error::Internal("a Stan program was given an array of another width");
  }
  const std::size_t rows = width == 0 ? 0 : x.element_count() / width;
  for (std::size_t row = 0; row < rows; ++row) {
    try {
      body(*model, row);
    } catch (const std::domain_error& error) {
      model->note(words_of(error));
      bad(row);
    } catch (const std::exception& error) {
      model->note(words_of(error));
      return ffi::Error(ffi::ErrorCode::kInvalidArgument, "Stan says: " + words_of(error));
    }
  }
  return ffi::Error::Success();
}

std::size_t width_of(std::int64_t key) {
  const Model* model = model_of(key);
  return model == nullptr ? 0 : model->dim();
}

ffi::Error value(std::int64_t key, bool jacobian, Reals x, Result log_density) {
  const std::size_t dim = width_of(key);
  double* values = log_density->typed_data();
  return each_row(
      key, dim, x,
      [&](Model& model, std::size_t row) {
        values[row] = value_at(model, x.typed_data() + row * dim, jacobian);
      },
      [&](std::size_t row) { values[row] = -kInfinity; });
}

ffi::Error gradient(std::int64_t key, bool jacobian, Reals x, Result log_density, Result slopes) {
  const std::size_t dim = width_of(key);
  double* values = log_density->typed_data();
  double* slope = slopes->typed_data();
  return each_row(
      key, dim, x,
      [&](Model& model, std::size_t row) {
        values[row] = gradient_at(model, x.typed_data() + row * dim, slope + row * dim, jacobian);
      },
      [&](std::size_t row) {
        values[row] = -kInfinity;
        std::fill_n(slope + row * dim, dim, 0.0);
      });
}

// The second derivatives times a direction, by differences of gradients: of the fourth order in a step of 1e-4, whose
// error is below the rounding of gradients, which it multiplies by 1e4.
ffi::Error product(std::int64_t key, bool jacobian, Reals x, Reals directions, Result products) {
  const std::size_t dim = width_of(key);
  return each_row(
      key, dim, x,
      [&](Model& model, std::size_t row) {
        const Real at(x.typed_data() + row * dim, dim);
        const Real direction(directions.typed_data() + row * dim, dim);
        Eigen::Map<Eigen::VectorXd> found(products->typed_data() + row * dim, dim);
        found.setZero();
        const double length = direction.lpNorm<Eigen::Infinity>();
        if (length == 0) return;
        const double step = 1e-4 * std::max(1.0, at.lpNorm<Eigen::Infinity>()) / length;
        Eigen::VectorXd slope(dim);
        const std::pair<double, double> terms[] = {{-2, 1}, {-1, -8}, {1, 8}, {2, -1}};
        for (const auto& [steps, weight] : terms) {
          const Eigen::VectorXd moved = at + steps * step * direction;
          gradient_at(model, moved.data(), slope.data(), jacobian);
          found += weight / (12 * step) * slope;
        }
      },
      [&](std::size_t row) { std::fill_n(products->typed_data() + row * dim, dim, kNaN); });
}

// A seed that is a function of the position (FNV-1a), so that generated quantities do not depend on how a run was made.
std::uint64_t hash_of(const double* x, std::size_t size) {
  std::uint64_t found = 14695981039346656037ULL;
  const auto* bytes = reinterpret_cast<const unsigned char*>(x);
  for (std::size_t i = 0; i < size * sizeof(double); ++i) found = (found ^ bytes[i]) * 1099511628211ULL;
  return found;
}

ffi::Error values(std::int64_t key, Reals x, Result constrained) {
  const std::size_t dim = width_of(key);
  const auto shape = constrained->dimensions();
  const std::size_t width = shape[shape.size() - 1];
  double* written = constrained->typed_data();
  return each_row(
      key, dim, x,
      [&](Model& model, std::size_t row) {
        const double* at = x.typed_data() + row * dim;
        const std::uint64_t seed = hash_of(at, dim);
        Eigen::VectorXd q = Real(at, dim), found = Eigen::VectorXd::Constant(width, kNaN);
        const auto keep = [&] {
          if (static_cast<std::size_t>(found.size()) == width) {
            std::copy_n(found.data(), width, written + row * width);
          }
        };
        std::fill_n(written + row * width, width, kNaN);
        try {
          evaluate(model, [&](std::ostream* out) {
            // Never all zero, from which the generator would not move.
            auto generator = stan::services::util::create_rng(seed, (seed >> 32) | 1);
            model.program->write_array(generator, q, found, true, true, out);
          });
        } catch (const std::domain_error&) {
          keep();  // what was computed before the error
          throw;
        }
        keep();
      },
      [](std::size_t) {});
}

// Write the unconstrained numbers of constrained ones, or NaN where Stan refuses these.
void unconstrain(Model& model, const double* constrained, std::size_t width, double* x) {
  std::fill_n(x, model.dim(), kNaN);
  const Eigen::VectorXd from = Real(constrained, width);
  Eigen::VectorXd found;
  evaluate(model, [&](std::ostream* out) { model.program->unconstrain_array(from, found, out); });
  std::copy_n(found.data(), model.dim(), x);
}

ffi::Error unconstrained(std::int64_t key, Reals constrained, Result x) {
  const auto given = constrained.dimensions();
  const std::size_t width = given[given.size() - 1];
  const std::size_t dim = width_of(key);
  return each_row(
      key, width, constrained,
      [&](Model& model, std::size_t row) {
        unconstrain(model, constrained.typed_data() + row * width, width, x->typed_data() + row * dim);
      },
      [](std::size_t) {});
}

char* copied(const std::string& text) {
  char* found = static_cast<char*>(std::malloc(text.size() + 1));
  std::memcpy(found, text.c_str(), text.size() + 1);
  return found;
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

XLA_FFI_DEFINE_HANDLER_SYMBOL(accord_value, value,
                              ffi::Ffi::Bind()
                                  .Attr<std::int64_t>("model")
                                  .Attr<bool>("jacobian")
                                  .Arg<Reals>()
                                  .Ret<Reals>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(accord_gradient, gradient,
                              ffi::Ffi::Bind()
                                  .Attr<std::int64_t>("model")
                                  .Attr<bool>("jacobian")
                                  .Arg<Reals>()
                                  .Ret<Reals>()
                                  .Ret<Reals>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(accord_product, product,
                              ffi::Ffi::Bind()
                                  .Attr<std::int64_t>("model")
                                  .Attr<bool>("jacobian")
                                  .Arg<Reals>()
                                  .Arg<Reals>()
                                  .Ret<Reals>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(accord_values, values,
                              ffi::Ffi::Bind().Attr<std::int64_t>("model").Arg<Reals>().Ret<Reals>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(accord_unconstrained, unconstrained,
                              ffi::Ffi::Bind().Attr<std::int64_t>("model").Arg<Reals>().Ret<Reals>());

void accord_free(char* text) { std::free(text); }

bool accord_is_loaded(std::int64_t key) { return model_of(key) != nullptr; }

// Give the program data, under a key; return an error or null. Arrays are written one after the other, columns first,
// in `reals` or `wholes`.
char* accord_load(std::int64_t key, std::int64_t count, const char** names, const std::uint8_t* is_whole,
                  const std::int64_t* ranks, const std::int64_t* dims, const double* reals, const int* wholes) {
  try {
    std::vector<std::string> names_r, names_i;
    std::vector<std::vector<std::size_t>> dims_r, dims_i;
    std::size_t num_r = 0, num_i = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::vector<std::size_t> shape(dims, dims + ranks[i]);
      dims += ranks[i];
      std::size_t size = 1;
      for (const auto each : shape) size *= each;
      (is_whole[i] ? names_i : names_r).push_back(names[i]);
      (is_whole[i] ? dims_i : dims_r).push_back(shape);
      (is_whole[i] ? num_i : num_r) += size;
    }
    stan::io::array_var_context context(names_r, std::vector<double>(reals, reals + num_r), dims_r, names_i,
                                        std::vector<int>(wholes, wholes + num_i), dims_i);
    auto model = std::make_unique<Model>();
    // Of transformed data, which may draw random numbers: the same for every process.
    constexpr unsigned int seed = 1;
    evaluate(*model, [&](std::ostream* out) { model->program.reset(&new_model(context, seed, out)); });
    const std::unique_lock<std::shared_mutex> held(models_lock);
    models.emplace(key, std::move(model));
    return nullptr;
  } catch (const std::exception& error) {
    return copied(words_of(error));
  }
}

// Describe a model in lines: `p`, `t` or `g` (parameters, transformed parameters, generated quantities) with a name and
// its shape; `u` with the names of unconstrained numbers, `c` of all constrained ones.
char* accord_describe(std::int64_t key) {
  const stan::model::model_base& program = *model_of(key)->program;
  std::ostringstream text;
  std::size_t done = 0;
  const char kinds[] = {'p', 't', 'g'};
  for (int kind = 0; kind < 3; ++kind) {
    std::vector<std::string> names;
    std::vector<std::vector<std::size_t>> dims;
    program.get_param_names(names, kind > 0, kind > 1);
    program.get_dims(dims, kind > 0, kind > 1);
    for (; done < names.size(); ++done) {
      text << kinds[kind] << ' ' << names[done];
      for (const auto size : dims[done]) text << ' ' << size;
      text << '\n';
    }
  }
  std::vector<std::string> names;
  program.unconstrained_param_names(names, false, false);
  text << 'u';
  for (const auto& each : names) text << ' ' << each;
  names.clear();
  program.constrained_param_names(names, true, true);
  text << "\nc";
  for (const auto& each : names) text << ' ' << each;
  return copied(text.str());
}

// Return what the model has said: count, unit separator, text, record separator.
char* accord_messages(std::int64_t key) {
  Model& model = *model_of(key);
  const std::lock_guard<std::mutex> held(model.lock);
  std::ostringstream text;
  for (const auto& [message, count] : model.messages) text << count << '\x1f' << message << '\x1e';
  return copied(text.str());
}

// Return why Stan refuses an unconstrained position, or constrained values of this width; an empty text if it does not.
char* accord_refusal(std::int64_t key, bool is_constrained, const double* numbers, std::int64_t width) {
  Model& model = *model_of(key);
  std::vector<double> found(model.dim());
  try {
    if (is_constrained) {
      unconstrain(model, numbers, width, found.data());
    } else {
      gradient_at(model, numbers, found.data(), true);
    }
    return copied("");
  } catch (const std::exception& error) {
    return copied(words_of(error));
  }
}

#pragma GCC visibility pop
}
