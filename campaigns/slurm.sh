#!/usr/bin/env bash
# A campaign on a cluster:  sbatch campaigns/slurm.sh campaigns/random-6dof.yaml out/random-6dof
# All ranks must see the same folder; rank 0 writes into it. If a rank dies the job ends: submit the same line again
# and it continues where it stopped.
#SBATCH --job-name=freefloat
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=32
#SBATCH --cpus-per-task=1
#SBATCH --time=04:00:00
#SBATCH --requeue
set -eu
file=${1:?which campaign? sbatch campaigns/slurm.sh FILE [DIR]}
out=(${2:+--out "$2"})
# srun starts the ranks where Open MPI was built with Slurm's PMIx; mpirun does elsewhere.
if srun --mpi=list 2>&1 | grep -q pmix; then
  srun --mpi=pmix freefloat campaign "$file" "${out[@]}" --quiet
else
  mpirun freefloat campaign "$file" "${out[@]}" --quiet
fi
