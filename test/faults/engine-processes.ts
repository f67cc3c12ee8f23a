import { readdir, readlink } from 'node:fs/promises'

/** Processes that work in a folder of the store, which only the video engine's children do. Linux only. */
export const listEngineProcesses = async (storagePath: string): Promise<number[]> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const places = await Promise.all(
    pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => undefined)),
  )
  return pids.filter((_, index) => places[index]?.startsWith(storagePath)).map(Number)
}
