// Run Stan's multi-path Pathfinder on a Stan program, with which this file is linked.

#include <tbb/task_arena.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <stan/callbacks/interrupt.hpp>
#include <stan/callbacks/stream_logger.hpp>
#include <stan/callbacks/structured_writer.hpp>
#include <stan/callbacks/writer.hpp>
#include <stan/io/empty_var_context.hpp>
#include <stan/io/json/json_data.hpp>
#include <stan/model/model_header.hpp>
#include <stan/services/pathfinder/multi.hpp>

// What stanc writes for a program.
stan::model::model_base& new_model(stan::io::var_context& data, unsigned int seed, std::ostream* said);

namespace {

// Keeps the names of columns, and the values of draws, one draw after the other.
struct Kept : stan::callbacks::writer {
  std::vector<std::string> names;
  std::vector<double> values;

  void operator()(const std::vector<std::string>& given) override { names = given; }
  void operator()(const std::vector<double>& draw) override {
    values.insert(values.end(), draw.begin(), draw.end());
  }
  void operator()() override {}
  void operator()(const std::string&) override {}
  void operator()(const Eigen::Ref<Eigen::MatrixXd>& draws) override {
    values.insert(values.end(), draws.data(), draws.data() + draws.size());
  }

  void write(const std::string& path) const {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  }
};

std::unique_ptr<stan::io::var_context> context_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::make_unique<stan::io::empty_var_context>();
  return std::make_unique<stan::json::json_data>(file);
}

// Read `data.json`, and `start_0.json` and so on where they are; write `names`, `draws` and `path_0` and so on.
int pathfinder(const std::string& folder, int paths, int draws, unsigned seed, std::ostream& said) {
  const auto data = context_of(folder + "/data.json");
  std::unique_ptr<stan::model::model_base> model(&new_model(*data, seed, &said));
  std::vector<std::unique_ptr<stan::io::var_context>> starts;
  for (int i = 0; i < paths; ++i) starts.push_back(context_of(folder + "/start_" + std::to_string(i) + ".json"));
  std::vector<stan::callbacks::writer> starts_written(paths);
  std::vector<stan::callbacks::structured_writer> diagnostics(paths);
  std::vector<Kept> each(paths);
  Kept resampled;
  stan::callbacks::interrupt interrupt;
  stan::callbacks::structured_writer diagnostic;
  stan::callbacks::stream_logger logger(said, said, said, said, said);

  // What CmdStan has as defaults, but for the number of paths.
  constexpr unsigned chain = 1;
  constexpr double init_radius = 2, init_alpha = 1e-3;
  constexpr double tol_obj = 1e-12, tol_rel_obj = 1e4, tol_grad = 1e-8, tol_rel_grad = 1e7, tol_param = 1e-8;
  constexpr int history_size = 5, num_iterations = 1000, num_elbo_draws = 25, num_draws = 1000, refresh = 0;
  constexpr bool save_iterations = false;
  const int code = stan::services::pathfinder::pathfinder_lbfgs_multi(
      *model, starts, seed, chain, init_radius, history_size, init_alpha, tol_obj, tol_rel_obj, tol_grad,
      tol_rel_grad, tol_param, num_iterations, num_elbo_draws, num_draws, draws, paths, save_iterations, refresh,
      interrupt, logger, starts_written, each, diagnostics, resampled, diagnostic);

  std::ofstream names(folder + "/names");
  for (const auto& name : resampled.names) names << name << '\n';
  resampled.write(folder + "/draws");
  for (int i = 0; i < paths; ++i) each[i].write(folder + "/path_" + std::to_string(i));
  return code;
}

}  // namespace

#pragma GCC visibility push(default)

// Run in one thread, as CmdStan does; return zero, or an error's code. `said` has what Stan has said.
extern "C" int run_pathfinder(const char* folder, int paths, int draws, unsigned seed) {
  std::ofstream said(std::string(folder) + "/said");
  int code = 1;
  try {
    tbb::task_arena(1).execute([&] { code = pathfinder(folder, paths, draws, seed, said); });
  } catch (const std::exception& error) {
    said << error.what() << std::endl;
  }
  return code;
}
