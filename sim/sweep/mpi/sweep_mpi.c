/*
 * MPI for umsim sweep --mpi, loaded by sweep_ranks_load.c. Everything is of one communicator and one
 * tag, and MPI's own error handler ends all ranks where something fails.
 */
#include "sim/sweep/sweep_ranks.h"

#include <mpi.h>

#define TAG 1

static int rank_of(void)
{
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return rank;
}

static int size_of(void)
{
	int size;

	MPI_Comm_size(MPI_COMM_WORLD, &size);
	return size;
}

static void send_bytes(int to, const void *bytes, size_t count)
{
	MPI_Send(bytes, (int)count, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
}

static bool probe(bool blocks, int *from, size_t *count)
{
	MPI_Status status;
	int is_there = 1, bytes;

	if (blocks)
		MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
	else
		MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &is_there, &status);
	if (!is_there)
		return false;
	MPI_Get_count(&status, MPI_BYTE, &bytes);
	*from = status.MPI_SOURCE;
	*count = (size_t)bytes;
	return true;
}

static void receive(int from, void *bytes, size_t count)
{
	MPI_Recv(bytes, (int)count, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void abort_all(int status)
{
	MPI_Abort(MPI_COMM_WORLD, status);
}

static void finish(void)
{
	MPI_Finalize();
}

static const struct um_ranks_ops ops = {rank_of, size_of,   send_bytes, probe,
					receive, abort_all, finish};

__attribute__((visibility("default"))) const struct um_ranks_ops *um_ranks_open_module(void);

const struct um_ranks_ops *um_ranks_open_module(void)
{
	int provided;

	/* One thread of a process talks: the one that tells results. */
	MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
	return &ops;
}
