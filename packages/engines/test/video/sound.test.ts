import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { writeSound, type SoundPlan } from '../../src/video/sound.ts'
import { level, useStudio, power } from './studio.ts'

/** The tone, the middle of the noise, and what chords are made of. */
const TONE = [150]
const NOISE = [1500, 2000, 2600, 3300]
const CHORDS = [200, 220, 240, 260, 280, 300, 320, 340, 360, 380]

describe('the sound of a video', () => {
  const studio = useStudio()

  const make = async (plan: Partial<SoundPlan>, seconds = 3): Promise<Float32Array> => {
    const path = join(studio.dir, 'sound.wav')
    await writeSound(path, { audio: 'none', bgm: false, seed: 7, ...plan }, seconds)
    return studio.listen(path)
  }

  test('is a tone, a noise, both or a chord, each in bands of its own', async () => {
    const speech = await make({ audio: 'speech_only' })
    const effect = await make({ audio: 'sound_effect_only' })
    const all = await make({ audio: 'all' })
    const music = await make({ bgm: true })
    assert.ok(power(speech, TONE) > 100 * power(speech, NOISE))
    assert.ok(power(effect, NOISE) > 3 * power(effect, TONE))
    assert.ok(power(all, TONE) > 0.7 * power(speech, TONE))
    assert.ok(power(all, NOISE) > 0.7 * power(effect, NOISE))
    assert.ok(power(music, CHORDS) > 10 * power(music, TONE))
    assert.ok(power(music, CHORDS) > 100 * power(music, NOISE))
  })

  test('lasts as long as it is asked to, and neither clips nor is too soft', async () => {
    for (const plan of [{ audio: 'all', bgm: true }, { audio: 'sound_effect_only' }] as const) {
      const samples = await make(plan, 2)
      assert.equal(samples.length, 96_000)
      assert.ok(level(samples) > 0.02)
      assert.ok(samples.every((sample) => Math.abs(sample) < 0.98))
    }
  })

  test('has another chord for another seed, and the same for the same', async () => {
    const [one, same, other] = [
      await make({ bgm: true }),
      await make({ bgm: true }),
      await make({ bgm: true, seed: 8 }),
    ]
    assert.deepEqual(one, same)
    assert.notDeepEqual(one, other)
  })

  test('is in the file as it was made', async () => {
    const { video } = await studio.render({ audio: 'speech_only', seconds: 2 })
    const received = studio.listen(video)
    assert.ok(power(received, TONE) > 50 * power(received, NOISE))
    assert.ok(Math.abs(received.length - 96_000) <= 1024)
  })
})
