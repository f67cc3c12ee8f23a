import type { Vec } from './vector.ts'

export type Field = (x: number, y: number, z: number) => number

export interface Surface {
  /** Linear colour of what comes back diffusely. */
  albedo: Vec
  /** Normal with the fine relief in it. */
  normal: Vec
  /** 0 mirror .. 1 chalk. */
  roughness: number
  /** Mirror share at normal incidence: 0.04 for most things, 0.028 for skin. */
  reflectance: number
  /** How far light wanders below the surface: 0 none .. 1 skin. */
  scatter: number
}

export interface Light {
  /** Towards the light. */
  direction: Vec
  /** Radius of its disc at distance 1: how soft its shadows are. */
  spread: number
  colour: Vec
}

export interface Scene {
  /** Never more than the true distance to the nearest surface. */
  distance: Field
  /** `footprint` is the size of a pixel there: finer detail must be left out. */
  surface(point: Vec, normal: Vec, footprint: number): Surface
  /** Light from a direction in which nothing stands, blurred as a surface of this roughness sees it. */
  sky(direction: Vec, roughness: number): Vec
  /** Rough guess of the light a point sends out: what others see of it in a reflection or as colour bleeding. */
  glow(point: Vec): Vec
  /** What the camera sees where nothing stands; u and v from 0 to 1. */
  backdrop(u: number, v: number): Vec
  lights: readonly Light[]
  /** Beyond this distance from the eye nothing stands. */
  far: number
}
