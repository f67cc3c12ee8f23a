import { testMirror } from './mirror.ts'

testMirror(2_000)
