import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { between, makeRandom, pick, type Random } from './random.ts'
import type { VideoJob } from '../video-job.ts'

export type SoundPlan = Pick<VideoJob, 'audio' | 'bgm' | 'seed'>

const RATE = 48_000
/** A fifth of a second, so that the event loop never stands still for long. */
const BLOCK = 9600
const FADE_IN = 0.04
const FADE_OUT = 0.35

/** True when a job has any sound of its own. */
export const hasSound = ({ audio, bgm }: Pick<SoundPlan, 'audio' | 'bgm'>): boolean =>
  audio !== 'none' || bgm

/** Writes placeholder sound (no speech, no model) as a WAV file: 48 kHz, stereo, 16 bits. */
export const writeSound = async (path: string, plan: SoundPlan, seconds: number): Promise<void> => {
  await pipeline(makeWav(plan, seconds), createWriteStream(path))
}

async function* makeWav(plan: SoundPlan, seconds: number): AsyncGenerator<Buffer> {
  const count = Math.round(seconds * RATE)
  yield wavHeader(count)
  const voices = makeVoices(plan)
  for (let from = 0; from < count; from += BLOCK) {
    yield mixBlock(voices, { from, to: Math.min(count, from + BLOCK), count })
    await new Promise(setImmediate)
  }
}

/** Sample of a channel (0 left, 1 right) at a time in seconds, asked for in order; −1..1. */
type Voice = (time: number, channel: 0 | 1) => number

const makeVoices = ({ audio, bgm, seed }: SoundPlan): Voice[] => {
  const voices: Voice[] = []
  if (audio === 'all' || audio === 'speech_only') voices.push(makePulse(makeRandom(seed, 'pulse')))
  if (audio === 'all' || audio === 'sound_effect_only') voices.push(makeWind(seed))
  if (bgm) voices.push(makeChord(makeRandom(seed, 'chord')))
  return voices
}

const mixBlock = (
  voices: Voice[],
  { from, to, count }: { from: number; to: number; count: number },
): Buffer => {
  const block = Buffer.alloc((to - from) * 4)
  for (let i = from; i < to; i++) {
    const level = Math.min(1, i / (FADE_IN * RATE), (count - i) / (FADE_OUT * RATE))
    for (const channel of [0, 1] as const) {
      let sum = 0
      for (const voice of voices) sum += voice(i / RATE, channel)
      const value = Math.max(-1, Math.min(1, sum * level))
      block.writeInt16LE(Math.round(value * 32_767), (i - from) * 4 + channel * 2)
    }
  }
  return block
}

const TONE_HZ = 150

/** A 150 Hz tone with two weak overtones, in pulses of the length of syllables with a pause after some of them. */
const makePulse = (random: Random): Voice => {
  let [start, length, pause] = [0, between(random, 0.12, 0.26), 0.04]
  return (time) => {
    if (time >= start + length + pause) {
      start += length + pause
      length = between(random, 0.12, 0.28)
      pause = random() < 0.2 ? between(random, 0.2, 0.4) : 0.04
    }
    const share = (time - start) / length
    if (share < 0 || share >= 1) return 0
    const envelope = Math.sin(Math.PI * share) ** 2
    const angle = 2 * Math.PI * TONE_HZ * time
    const tone = Math.sin(angle) + 0.22 * Math.sin(2 * angle) + 0.1 * Math.sin(3 * angle)
    return 0.4 * envelope * tone
  }
}

/** White noise through filters that leave about 0.8 to 5 kHz, swelling like gusts; each channel has its own. */
const makeWind = (seed: number): Voice => {
  const channels = ([0, 1] as const).map((channel) => {
    const random = makeRandom(seed, `wind ${channel}`)
    const phase = random()
    let [low, high] = [0, 0]
    return (time: number): number => {
      low += 0.42 * (2 * random() - 1 - low)
      high += 0.1 * (low - high)
      const gust =
        0.55 +
        0.3 * Math.sin(2 * Math.PI * (0.23 * time + phase)) +
        0.15 * Math.sin(2 * Math.PI * 0.61 * time)
      return 0.3 * gust * (low - high)
    }
  })
  return (time, channel) => channels[channel]?.(time) ?? 0
}

const ROOTS_HZ = [196, 207.65, 220, 233.08, 246.94, 261.63]
const MAJOR = [1, 5 / 4, 3 / 2]
const MINOR = [1, 6 / 5, 3 / 2]

/** Three tones, major or minor, that breathe slowly against each other; a little apart in the two channels. */
const makeChord = (random: Random): Voice => {
  const root = pick(random, ROOTS_HZ)
  const tones = pick(random, [MAJOR, MINOR]).map((ratio) => ({
    hertz: root * ratio,
    phase: random(),
    pace: between(random, 0.09, 0.17),
  }))
  return (time, channel) => {
    const attack = Math.min(1, time / 0.8)
    let sum = 0
    for (const { hertz, phase, pace } of tones) {
      const breath = 0.72 + 0.28 * Math.sin(2 * Math.PI * (pace * time + phase))
      sum += breath * Math.sin(2 * Math.PI * ((hertz + channel * 0.35) * time + phase))
    }
    return 0.12 * attack * sum
  }
}

const wavHeader = (count: number): Buffer => {
  const size = count * 4
  const header = Buffer.alloc(44)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(36 + size, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(2, 22)
  header.writeUInt32LE(RATE, 24)
  header.writeUInt32LE(RATE * 4, 28)
  header.writeUInt16LE(4, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(size, 40)
  return header
}
