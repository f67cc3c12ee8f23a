import type { Camera } from './camera.ts'
import type { Effort, Lighting } from './lighting.ts'
import { light, likeness } from './lighting.ts'
import type { Geometry, Size } from './march.ts'
import { march, trace } from './march.ts'
import type { Light, Scene, Surface } from './scene.ts'
import { diffuseThrough } from './scatter.ts'
import { add, blend, clamp, dot, multiply, normalize, reflect, scale } from './vector.ts'
import type { Vec } from './vector.ts'

/** A picture in linear light, three numbers a pixel, with the distance of what it shows. */
export interface Picture extends Size {
  light: Float32Array
  depth: Float32Array
}

/** Draws the scene at the given size: first what is seen, then the light on it, then the colours. */
export function render(scene: Scene, camera: Camera, size: Size, effort: Effort): Picture {
  const seen = trace(scene, camera, size)
  const lighting = light(scene, camera, seen, effort)
  const count = size.width * size.height
  const layers = {
    albedo: new Float32Array(count * 3),
    diffuse: new Float32Array(count * 3),
    gloss: new Float32Array(count * 3),
    scatter: new Float32Array(count),
  }
  for (let i = 0; i < count; i += 1) {
    if ((seen.depth[i] ?? Infinity) === Infinity) {
      layers.gloss.set(backdropAt(scene, size, i), i * 3)
      continue
    }
    const spot = spotAt({ scene, camera, seen, lighting, i })
    layers.albedo.set(spot.surface.albedo, i * 3)
    layers.diffuse.set(diffuse(scene, spot), i * 3)
    layers.gloss.set(gloss(scene, spot), i * 3)
    layers.scatter[i] = spot.surface.scatter
  }
  diffuseThrough(layers.diffuse, layers.scatter, seen, camera.pixel)
  const sum = layers.gloss.map((g, k) => g + (layers.albedo[k] ?? 0) * (layers.diffuse[k] ?? 0))
  return { ...size, light: sum, depth: seen.depth }
}

function backdropAt(scene: Scene, { width, height }: Size, i: number): Vec {
  return scene.backdrop((i % width) / width, Math.floor(i / width) / height)
}

interface Spot {
  point: Vec
  /** From the eye. */
  view: Vec
  surface: Surface
  /** Normal without relief. */
  normal: Vec
  inSight: readonly number[]
  around: Vec
}

interface Pixel {
  scene: Scene
  camera: Camera
  seen: Geometry
  lighting: Lighting
  i: number
}

function spotAt({ scene, camera, seen, lighting, i }: Pixel): Spot {
  const depth = seen.depth[i] ?? 0
  const view = camera.ray((i % seen.width) + 0.5, Math.floor(i / seen.width) + 0.5)
  const point = add(camera.eye, scale(view, depth))
  const n = seen.normal
  const normal: Vec = [n[i * 3] ?? 0, n[i * 3 + 1] ?? 0, n[i * 3 + 2] ?? 0]
  const values = arriving(lighting, seen, i)
  const lamps = scene.lights.length
  return {
    point,
    view,
    normal,
    surface: scene.surface(point, normal, depth * camera.pixel),
    inSight: values.slice(0, lamps),
    around: [values[lamps] ?? 0, values[lamps + 1] ?? 0, values[lamps + 2] ?? 0],
  }
}

/** The lighting of the four nearest cells, weighted by how much each is the same surface. */
function arriving(lighting: Lighting, seen: Geometry, i: number): number[] {
  const { width, height, channels, values, pixel } = lighting
  const fx = (i % seen.width) / 2 - 0.25
  const fy = Math.floor(i / seen.width) / 2 - 0.25
  const x0 = Math.floor(fx)
  const y0 = Math.floor(fy)
  const sum = Array.from({ length: channels }, () => 0)
  let total = 0
  for (let k = 0; k < 4; k += 1) {
    const x = clamp(x0 + (k & 1), 0, width - 1)
    const y = clamp(y0 + (k >> 1), 0, height - 1)
    const other = pixel[y * width + x] ?? -1
    if (other < 0) continue
    const near = (1.001 - Math.abs(x - fx)) * (1.001 - Math.abs(y - fy))
    const weight = Math.max(1e-5, near) * (likeness(seen, i, other) + 1e-4)
    total += weight
    for (let c = 0; c < channels; c += 1) {
      sum[c] = (sum[c] ?? 0) + weight * (values[(y * width + x) * channels + c] ?? 0)
    }
  }
  return sum.map((s) => s / Math.max(total, 1e-12))
}

function diffuse(scene: Scene, { surface, normal, inSight, around }: Spot): Vec {
  const tilt = 1 + 0.7 * (dot(surface.normal, FROM_ABOVE) - dot(normal, FROM_ABOVE))
  return scene.lights.reduce<Vec>(
    (sum, lamp, n) => add(sum, scale(lit(lamp, surface), inSight[n] ?? 0)),
    scale(around, clamp(tilt, 0.3, 1.7)),
  )
}

/** Mean direction of the light from all sides: up and towards the viewer. Relief shows in it too. */
const FROM_ABOVE: Vec = normalize([0, 0.75, 0.6])

/** A lamp's light by Lambert; below a scattering surface it reaches past the edge, red the farthest. */
function lit(lamp: Light, surface: Surface): Vec {
  const c = dot(surface.normal, lamp.direction)
  const w = surface.scatter
  return multiply(lamp.colour, [wrapped(c, 0.32 * w), wrapped(c, 0.12 * w), wrapped(c, 0.06 * w)])
}

const wrapped = (cosine: number, w: number): number => clamp((cosine + w) / (1 + w)) ** (1 + w)

function gloss(scene: Scene, spot: Spot): Vec {
  const { surface, view, inSight } = spot
  const mirrored = scene.lights.reduce<Vec>(
    (sum, lamp, n) => add(sum, scale(lamp.colour, (inSight[n] ?? 0) * highlight(lamp, spot))),
    [0, 0, 0],
  )
  const grazing = clamp(1 + dot(view, surface.normal)) ** 5
  const share =
    (surface.reflectance + (1 - surface.reflectance) * grazing * 0.7) *
    (1 - 0.8 * surface.roughness)
  return add(mirrored, scale(surroundings(scene, spot), share))
}

/** Microfacet reflection (GGX, Schlick's approximations) of a lamp, its disc counted as more roughness. */
function highlight(lamp: Light, { surface, view }: Spot): number {
  const n = surface.normal
  const nl = dot(n, lamp.direction)
  const nv = Math.max(0.05, -dot(n, view))
  if (nl <= 0) return 0
  const half = normalize(add(lamp.direction, scale(view, -1)))
  const nh = Math.max(0, dot(n, half))
  const a = Math.min(1, surface.roughness ** 2 + lamp.spread * 0.3)
  const spike = nh * nh * (a * a - 1) + 1
  const fresnel =
    surface.reflectance + (1 - surface.reflectance) * clamp(1 - dot(half, lamp.direction)) ** 5
  const shade = 1 / ((nl * (1 - a / 2) + a / 2) * (nv * (1 - a / 2) + a / 2))
  return ((a * a) / (Math.PI * spike * spike)) * fresnel * shade * 0.25 * nl
}

/** What a smooth surface mirrors; a rough one only sees the light that arrives anyway. */
function surroundings(scene: Scene, { point, view, surface, around }: Spot): Vec {
  const aim = reflect(view, surface.normal)
  if (surface.roughness > 0.45) return multiply(around, scene.sky(aim, surface.roughness))
  const start = add(point, scale(surface.normal, 0.01))
  const t = march(scene.distance, start, aim, { near: 0.01, far: 5, width: 0.002, slack: 0.002 })
  const sharp =
    t < Infinity ? scene.glow(add(start, scale(aim, t))) : scene.sky(aim, surface.roughness)
  return blend(sharp, around, surface.roughness)
}
