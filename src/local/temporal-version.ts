/** Version that is downloaded or built when none is found; tools/temporal builds the same. */
export const TEMPORAL_VERSION = '1.8.2'

/** The server in it, which docker-compose.yml runs on PostgreSQL. */
export const TEMPORAL_SERVER_VERSION = '1.31.2'

/** Makes a `temporal` that is not there: writes it to `path`, or throws and says why it can't. */
export type MakeTemporal = (path: string, options: MakeOptions) => Promise<void>

export interface MakeOptions {
  say: (line: string) => void
  /** Says how far it is; may be called often. */
  show: (text: string) => void
  /** Ends the making. */
  signal: AbortSignal
}
