import { ENLARGEMENT, type Camera } from './camera.ts'
import { makeRandom } from './random.ts'
import type { VideoJob } from './video-engine.ts'

/** Ken Burns: towards a point away from the middle, so that the picture both grows and slides. */
export const makeCamera = ({ seed, movement }: Pick<VideoJob, 'seed' | 'movement'>): Camera => {
  const angle = 2 * Math.PI * makeRandom(seed, 'camera')()
  const towards = { x: 0.8 * Math.cos(angle), y: 0.8 * Math.sin(angle) }
  return { base: 1, zoom: ENLARGEMENT[movement], towards }
}
