import { errors } from '../../domain/shared/errors.ts'

/** What one request has taken from the budget of its process. */
export interface Reservation {
  /**
   * Adds bytes that stay in memory.
   *
   * @throws 503 `busy` when the process would hold too much.
   */
  hold: (bytes: number) => void
  /** Gives everything back; further calls do nothing. */
  release: () => void
}

export interface UploadBudget {
  /**
   * Takes the declared length of a body (or the limit of its route, when it declares none).
   *
   * @throws 503 `busy` when the process would be receiving too much.
   */
  reserve: (uploadBytes: number) => Reservation
  /** What is taken at this moment, in bytes. */
  used: () => { uploadBytes: number; heldBytes: number }
}

/**
 * Counts the bytes that one process is receiving and holding, so that many bodies at once end in 503 and not in a full
 * disk or a full heap. Usual limits: 2 GiB of declared uploads, 64 MiB held.
 */
export const makeUploadBudget = (limits: {
  uploadBytes: number
  heldBytes: number
}): UploadBudget => {
  const used = { uploadBytes: 0, heldBytes: 0 }

  const take = (kind: keyof typeof used, bytes: number) => {
    if (used[kind] + bytes > limits[kind]) throw errors.busy()
    used[kind] += bytes
  }

  return {
    reserve: (uploadBytes) => {
      take('uploadBytes', uploadBytes)
      let held = 0
      let open = true
      return {
        hold: (bytes) => {
          if (!open) return
          take('heldBytes', bytes)
          held += bytes
        },
        release: () => {
          if (!open) return
          open = false
          used.uploadBytes -= uploadBytes
          used.heldBytes -= held
        },
      }
    },
    used: () => ({ ...used }),
  }
}
