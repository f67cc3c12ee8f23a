import { testMirror } from './mirror.ts'

testMirror(200)
