import { statfs } from 'node:fs/promises'

/** Room of the file system of a local store. */
export interface Room {
  path: string
  freeBytes: number
  bytes: number
}

export const readRoom = async (path: string): Promise<Room> => {
  const { bavail, blocks, bsize } = await statfs(path)
  return { path, freeBytes: bavail * bsize, bytes: blocks * bsize }
}

export const MAKE_ROOM = 'make room, or lower RESULT_RETENTION_DAYS'
/** Effect of a full store on the work of callers. */
export const WHEN_FULL =
  'uploads are rejected with 503, and renders are repeated until there is room'

const GIB = 2 ** 30
/** Used part from which on operators are warned: time is left to add space. */
const WARN = 0.9
const URGENT = 0.95
/** The largest video takes so much; on a disk of less than ten times that only the used part counts. */
const LEAST_BYTES = GIB

export const usedPart = ({ freeBytes, bytes }: Room): number =>
  bytes === 0 ? 0 : 1 - freeBytes / bytes

export const describeRoom = (room: Room): string => {
  const free = (room.freeBytes / GIB).toFixed(1)
  return `${free} GiB, ${((1 - usedPart(room)) * 100).toFixed(0)} %, are free in ${room.path}`
}

/** Decides for operators whether a store has too little room: with a warning from 90 % on, urgently from 95 % on. */
export const findShortage = (room: Room): { isUrgent: boolean; message: string } | undefined => {
  const used = usedPart(room)
  const isSmall = room.bytes < 10 * LEAST_BYTES
  const isUrgent = used >= URGENT || (!isSmall && room.freeBytes < LEAST_BYTES)
  if (used < WARN && !isUrgent) return undefined
  const message = `the store is nearly full: ${describeRoom(room)}; once it is full, ${WHEN_FULL}: ${MAKE_ROOM}`
  return { isUrgent, message }
}
