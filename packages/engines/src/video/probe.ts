import { InputError } from '../input-error.ts'
import type { VideoBinaries } from '../binaries.ts'
import { runChild } from './child.ts'
import { CALLERS } from './options.ts'

export interface ProbeOrder {
  binaries: VideoBinaries
  /** Folder of the run. */
  dir: string
  signal: AbortSignal
}

/** A file and the demuxer that must read it: ffprobe guesses nothing, so no list of other files can be opened. */
export interface ProbedFile {
  path: string
  container: string
}

/** Values of a stream by ffprobe, under its own names. What it does not know is absent. */
export interface StreamFacts {
  values: ReadonlyMap<string, string>
  /** Packets that can be read: a file that is cut has fewer than its header says. */
  packets: number
  /** When the last of them ends, in seconds of the file. */
  end: number
}

export interface FileFacts {
  /** By their index. */
  streams: StreamFacts[]
  /** In seconds: the zero of a file may lie before or behind the zero of its streams. */
  start: number
}

/** No text of the file: it could hold what parts one field from the next. */
const ENTRIES = [
  'stream=index,codec_type,codec_name,profile,pix_fmt,width,height,sample_aspect_ratio,sample_rate,channels',
  'stream_disposition=attached_pic',
  'stream_side_data=rotation',
  'format=start_time',
  'packet=stream_index,pts_time,duration_time',
].join(':')

/** No real video has more. Further streams are ignored. */
const MAX_STREAMS = 64
/** Limit of the address space: the index of a file of 8 KB can claim 1.8 GB. */
const MAX_MIB = 1024
/** A minute of 50 a second in each of them. */
const MAX_PACKETS = 200_000

/**
 * Reads the headers of a file and all its packets, without decoding them, in one run: a program that loads slowly costs
 * more than the reading.
 * @throws Error when ffprobe rejects the file, InputError when it has more packets than any real one
 */
export const probeFile = async (
  { path, container }: ProbedFile,
  { binaries, dir, signal }: ProbeOrder,
): Promise<FileFacts> => {
  const found: Findings = { packets: new Map(), all: 0, streams: new Map(), start: 0 }
  const crowded = new AbortController()
  const options = ['-hide_banner', '-loglevel', 'error', '-of', 'compact', '-show_entries', ENTRIES]
  const confined = ['-protocol_whitelist', 'file,pipe', ...CALLERS]
  const input = [...confined, '-f', container, '-i', `file:${path}`]
  await runChild({
    program: binaries.ffprobe.path,
    args: [...options, ...input],
    dir,
    signal: AbortSignal.any([signal, crowded.signal]),
    binaries,
    memoryMib: MAX_MIB,
    onLine: (line) => {
      record(found, line)
      if (found.all > MAX_PACKETS) crowded.abort(TOO_MANY_PACKETS)
    },
  })
  const streams = [...found.streams.entries()].toSorted(([one], [other]) => one - other)
  return {
    start: found.start,
    streams: streams.map(([index, values]) => ({
      values,
      ...(found.packets.get(index) ?? { packets: 0, end: 0 }),
    })),
  }
}

interface Findings {
  packets: Map<number, { packets: number; end: number }>
  /** Packets of all streams. */
  all: number
  streams: Map<number, ReadonlyMap<string, string>>
  start: number
}

const TOO_MANY_PACKETS = new InputError(
  'video_invalid',
  `The source video has more than ${MAX_PACKETS.toLocaleString('en')} packets.`,
)

const record = (found: Findings, line: string): void => {
  const [section, ...fields] = line.split('|')
  if (section !== 'packet' && section !== 'stream' && section !== 'format') return
  const values = new Map(fields.map(readField))
  const index = Number(values.get('index') ?? values.get('stream_index') ?? 0)
  if (section === 'packet') found.all += 1
  if (section === 'format') found.start = Number(values.get('start_time')) || 0
  else if (index >= MAX_STREAMS) return
  else if (section === 'stream') found.streams.set(index, values)
  else recordPacket(found, index, values)
}

const readField = (field: string): [string, string] => {
  const at = field.indexOf('=')
  // Facts of a picture's matrix come with a prefix that differs between versions.
  return [field.slice(0, at).replace(/^side_dat.*:/, ''), field.slice(at + 1)]
}

const recordPacket = (
  { packets }: Findings,
  index: number,
  values: ReadonlyMap<string, string>,
): void => {
  const facts = packets.get(index) ?? { packets: 0, end: 0 }
  const time = Number(values.get('pts_time'))
  facts.packets += 1
  if (Number.isFinite(time))
    facts.end = Math.max(facts.end, time + (Number(values.get('duration_time')) || 0))
  packets.set(index, facts)
}
