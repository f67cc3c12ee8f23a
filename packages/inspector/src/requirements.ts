export { readRequirement } from './scan/requirements/requirement.ts'
