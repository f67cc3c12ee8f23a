import { listBlockAreas, loadBlock, makeBlock, storeBlock, type Block } from './block.ts'
import type { Raster } from './raster.ts'

/** One step of a pipeline, applied block by block. */
export interface Stage {
  /** Pixels around a pixel that `apply` reads; 0 when absent. */
  reach?: number
  /**
   * Looks at every block (its inner part) as the image stands before this stage, for what depends on the whole picture:
   * wide blurs, histograms. A pipeline is run once more for each stage that surveys, up to that stage, so that nothing
   * between stages is ever stored or rounded.
   */
  survey?: (block: Block) => void
  /** Set when `survey` looks at the source only: such surveys share one pass over it. */
  surveysSource?: boolean
  /** Called once after the last block was surveyed. */
  ready?: () => void
  apply: (block: Block) => void
}

/**
 * Runs stages over a picture and returns the result as a new raster (the source itself when there is nothing to do).
 * Memory: source and result, 3 or 4 bytes a pixel each, plus the blurred maps (at most 4 bytes for 4 pixels each) and
 * about 10 MiB for the block.
 */
export const runStages = (
  source: Raster,
  stages: Stage[],
  onProgress: (share: number) => void = () => {},
): Raster => {
  if (stages.length === 0) return source
  const surveys = listSurveys(stages)
  const passes = surveys.length + 1
  for (const [pass, { before, surveying }] of surveys.entries()) {
    const report = (share: number) => onProgress((pass + share) / passes)
    const surveyBlock = (block: Block) => surveying.forEach((stage) => stage.survey?.(block))
    runPass(source, before, surveyBlock, report)
    for (const stage of surveying) stage.ready?.()
  }
  const result = new Uint8ClampedArray(source.data.length)
  const report = (share: number) => onProgress((passes - 1 + share) / passes)
  runPass(source, stages, (block) => storeBlock(block, result), report)
  return { ...source, data: new Uint8Array(result.buffer) }
}

interface Survey {
  /** The stages that run before the first survey. */
  before: Stage[]
  surveying: Stage[]
}

const listSurveys = (stages: Stage[]): Survey[] => {
  const ofSource = (stage: Stage, index: number) => index === 0 || stage.surveysSource === true
  const first = stages.filter((stage, index) => stage.survey && ofSource(stage, index))
  const later = stages.flatMap((stage, index) =>
    stage.survey && !ofSource(stage, index)
      ? [{ before: stages.slice(0, index), surveying: [stage] }]
      : [],
  )
  return first.length > 0 ? [{ before: [], surveying: first }, ...later] : later
}

const runPass = (
  source: Raster,
  stages: Stage[],
  use: (block: Block) => void,
  onProgress: (share: number) => void,
): void => {
  const reach = stages.reduce((sum, stage) => sum + (stage.reach ?? 0), 0)
  const block = makeBlock(source, reach)
  const areas = listBlockAreas(source, reach)
  for (const [index, { area, inner }] of areas.entries()) {
    block.area = area
    block.inner = inner
    loadBlock(block)
    for (const stage of stages) stage.apply(block)
    use(block)
    onProgress((index + 1) / areas.length)
  }
}
