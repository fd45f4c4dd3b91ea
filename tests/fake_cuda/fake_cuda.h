/*
 * A stand-in for libcuda: reads CUDA_INJECTION64_PATH as the driver does, and plays scripts of calls and
 * of what CUPTI would tell of them.
 *
 * A script is lines of words; '#' begins a comment.
 *   call NUMBER FIELD...       a call of the driver: entry and exit. FIELDs are its params. Before them:
 *       result=N symbol=NAME context=N inside=exit|kill|raise|flush (what happens during the call)
 *   activity KIND BYTES FIELD...   a record of activity; each FIELD at its OFFSET
 *   nvtx NUMBER FIELD...       a call of NVTX; result=N before the fields
 *   resource NUMBER CONTEXT    1 a context was created, 2 it is about to go
 *   fatal TEXT                 CUPTI gives up
 *   drop N                     CUPTI lost N records
 *   sleep MS
 *   repeat N ... end           N times; may be nested
 * A FIELD is LETTER:VALUE, or LETTER@OFFSET:VALUE. Letters: c 1 byte, h 2, u 4, z and p 8; P a pointer to
 * 8 bytes that hold the value; s, w pointers to text, narrow and wide; &{ FIELD... } a pointer to these.
 * A VALUE is a number, "now" or "corr" (the id of the last call), each with +N or -N, or i (the round of
 * the innermost repeat) times N: "i*N+M". Activities that follow one another have the same "now".
 */
#ifndef UM_FAKE_CUDA_H
#define UM_FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

int cuInit(unsigned flags);
/* With the callbacks of the real ones; memory of no use. */
int cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags);
int cudaMallocManaged(void **pointer, size_t bytes, unsigned flags);
/* 0; else the script has a line that cannot be. */
int fake_cuda_play(const char *path);

#endif
