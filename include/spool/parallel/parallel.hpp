// Everything of the part `parallel`: loops and algorithms on all threads of a pool. Not part of
// spool.hpp. docs/parallel.md is the guide.
#pragma once

#include "spool/parallel/options.hpp"
#include "spool/parallel/parallel_for.hpp"
#include "spool/parallel/parallel_invoke.hpp"
#include "spool/parallel/parallel_reduce.hpp"
#include "spool/parallel/parallel_scan.hpp"
#include "spool/parallel/parallel_sort.hpp"
#include "spool/parallel/parallel_transform.hpp"
#include "spool/parallel/submit_blocks.hpp"
