import { Type } from 'typebox'

/** Response that an upstream must give for a task of images; it may add members. */
export const UpstreamImage = Type.Object({
  task_id: Type.String(),
  status: Type.String(),
  progress: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
  generated: Type.Optional(Type.Array(Type.String())),
  error: Type.Optional(Type.Object({ message: Type.Optional(Type.String()) })),
})

const link = Type.String({ minLength: 1 })
const side = Type.Integer({ minimum: 1, maximum: 16_384 })

/** The same of a task of videos. */
export const UpstreamVideo = Type.Object({
  state: Type.String(),
  err_code: Type.Optional(Type.String()),
  err_msg: Type.Optional(Type.String()),
  progress: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
  creations: Type.Optional(
    Type.Array(
      Type.Object({
        url: link,
        cover_url: link,
        watermarked_url: Type.Optional(Type.String()),
        video: Type.Object({
          duration: Type.Number({ exclusiveMinimum: 0, maximum: 86_400 }),
          fps: Type.Number({ exclusiveMinimum: 0, maximum: 1000 }),
          resolution: Type.Object({ width: side, height: side }),
        }),
      }),
    ),
  ),
})

/** Words of a status by which a task is done. */
export const DONE: ReadonlySet<string> = new Set(
  'succeeded succeed success completed finished done complete'.split(' '),
)
/** Words by which it has failed. */
export const FAILED: ReadonlySet<string> = new Set(
  'cancelled canceled canceling fail failed error'.split(' '),
)

/** Reads the word of a status. Whatever is neither an end nor a failure runs on. */
export const readStatusWord = (word: string): 'done' | 'failed' | 'running' => {
  const plain = word.trim().toLowerCase()
  if (DONE.has(plain)) return 'done'
  return FAILED.has(plain) ? 'failed' : 'running'
}
