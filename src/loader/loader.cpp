// SPDX-License-Identifier: Apache-2.0
#include "loader/loader.hpp"

#include <new>

#include "loader/loader_engine.hpp"

namespace ridgeline::loader {

using base::Result;

Loader::Loader(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
Loader::~Loader() = default;

Result<std::unique_ptr<Loader>> Loader::open(const std::filesystem::path& path, LoaderOptions options,
                                             std::shared_ptr<BatchAllocator> allocator) {
  try {
    RL_TRY_ASSIGN(auto file, DataFile::open(path));
    auto engine = std::make_unique<Engine>(std::move(options), std::move(file));
    RL_TRY(engine->open(std::move(allocator)));
    return std::unique_ptr<Loader>(new Loader(std::move(engine)));
  } catch (const std::bad_alloc&) {
    return base::fail(base::ErrorCode::out_of_memory, "{}: no memory for its chunk index or batches", path.string());
  }
}

Result<void> Loader::start_epoch(std::uint64_t number) { return engine_->start_epoch(number); }
Result<std::optional<Batch>> Loader::next() { return engine_->next(); }
void Loader::stop() { engine_->stop(); }
std::uint64_t Loader::samples_per_epoch() const noexcept { return engine_->samples_per_epoch(); }
std::uint64_t Loader::batches_per_epoch() const noexcept { return engine_->batches_per_epoch(); }
std::uint64_t Loader::prefetch_batches() const noexcept { return engine_->prefetch_batches(); }
const DatasetLayout& Loader::layout(std::size_t dataset) const { return engine_->readers()[dataset]->layout(); }
ElementType Loader::element(std::size_t dataset) const { return engine_->element(dataset); }
LoaderStatistics Loader::statistics() const { return engine_->statistics(); }

std::vector<std::string> Loader::notes() const {
  std::vector<std::string> notes;
  for (const auto& reader : engine_->readers()) {
    const auto& layout = reader->layout();
    if (layout.storage == Storage::library)
      notes.push_back(fmt::format("dataset \"{}\" is read by the HDF5 library, one thread at a time: {}",
                                  layout.dataset, layout.library_reason));
    else if (!layout.library_reason.empty())
      notes.push_back(
          fmt::format("dataset \"{}\": the HDF5 library was asked for the place of each chunk, slow for many "
                      "the first time: {}",
                      layout.dataset, layout.library_reason));
    notes.insert(notes.end(), layout.notes.begin(), layout.notes.end());
  }
  return notes;
}

}  // namespace ridgeline::loader
