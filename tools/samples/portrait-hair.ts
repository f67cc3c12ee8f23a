import { growBrows, growLashes } from './brows.ts'
import type { Camera } from './camera.ts'
import { combHair } from './combing.ts'
import { buried, HAIR } from './hair.ts'
import { lightFibre } from './hair-light.ts'
import type { Fibre } from './hair-light.ts'
import type { Pose } from './pose.ts'
import type { Picture } from './render.ts'
import type { Scene } from './scene.ts'
import { drawStrands } from './strands.ts'
import { mix, scale } from './vector.ts'
import type { Vec } from './vector.ts'

export interface Sitter {
  scene: Scene
  camera: Camera
  pose: Pose
}

/** Draws hair, brows and lashes over the finished picture of a head. */
export function drawHair(picture: Picture, sitter: Sitter): void {
  for (const { points, offset, shade } of combHair(11, 42000)) {
    const tint = scale(HAIR, mix(0.45, 1.2, shade))
    const fibre = { tint, open: buried(offset), shift: 0.25 * (shade - 0.5), shine: 0.9 }
    draw(picture, sitter, points, fibre, { width: 0.0048, root: 0.3, tip: 0.5 })
  }
  const dark = { tint: scale(HAIR, 0.6), open: 0.9, shift: 0, shine: 0.15 }
  for (const points of growBrows(5, 640))
    draw(picture, sitter, points, dark, { width: 0.005, root: 1, tip: 0.2 })
  const black = { tint: scale(HAIR, 0.15), open: 0.6, shift: 0, shine: 0.05 }
  for (const points of growLashes(7))
    draw(picture, sitter, points, black, { width: 0.0055, root: 1, tip: 0.15 })
}

interface Pen {
  width: number
  root: number
  tip: number
}

function draw(
  picture: Picture,
  sitter: Sitter,
  local: readonly Vec[],
  fibre: Fibre,
  pen: Pen,
): void {
  const points = local.map((p) => sitter.pose.out(p))
  const colours = lightFibre(sitter.scene, sitter.camera.eye, points, fibre)
  drawStrands(picture, sitter.camera, [{ points, colours, ...pen }])
}
