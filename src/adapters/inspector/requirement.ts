export { readRequirement } from '../../../packages/inspector/src/scan/requirements/requirement.ts'
