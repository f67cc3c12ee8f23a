#!/usr/bin/env node
// The sources that have changed are compiled first, as by all commands of the checkout.
process.argv.splice(2, 0, 'packages/inspector/src/kiln-inspect.ts')
await import('../../../tools/run.mjs')
