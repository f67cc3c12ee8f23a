import {
  makeEmptyDict,
  makeList,
  makeNamespaceDict,
  makeTuple,
  makeUnknown,
} from '../interpret/values/make-value.ts'
import { nativeFunction } from '../interpret/values/native.ts'
import type { DictValue, Value } from '../interpret/values/value.ts'
import { words } from '../words.ts'
import { FACTS } from './facts.ts'

/** Files of the machine: none on a clean host, with a rest that nobody knows. */
const someFiles = (): Value => makeList([], true)

/** Functions of `folder_paths` that list files, which depend on the machine. */
const LISTS = new Set(
  words(`
    get_filename_list filter_files_content_types filter_files_extensions get_input_subfolders`),
)

/**
 * Names of the host's module of folders. Every path is the machine's. The dict of folders knows the host's own ones and
 * has a rest: other packs add theirs.
 */
export const makeFolderFacts = (): ((name: string) => Value | undefined) => {
  const folders = makeFolders()
  return (name) => {
    if (LISTS.has(name)) return nativeFunction(`folder_paths.${name}`, someFiles)
    if (name === 'folder_names_and_paths') return folders
    if (name === 'supported_pt_extensions') return textSet(FACTS.folders.modelExtensions)
    if (name === 'get_folder_paths')
      return nativeFunction('folder_paths.get_folder_paths', (_rt, [folder]) => paths(folder))
    if (name === 'recursive_search')
      return nativeFunction('folder_paths.recursive_search', () =>
        makeTuple([someFiles(), makeEmptyDict(true)]),
      )
    return MACHINE.has(name) ? makeUnknown(`folder_paths.${name}`, 'machine') : undefined
  }
}

const MACHINE = new Set(
  words(`
    base_path models_dir output_directory temp_directory input_directory user_directory
    get_output_directory get_temp_directory get_input_directory get_user_directory
    get_directory_by_type get_full_path get_full_path_or_raise get_annotated_filepath
    exists_annotated_filepath get_save_image_path`),
)

const makeFolders = (): DictValue => {
  const entries = Object.entries(FACTS.folders.values).map(
    ([folder, extensions]): [string, Value] => [
      folder,
      makeTuple([paths(folder), textSet(extensions ?? FACTS.folders.modelExtensions)]),
    ],
  )
  return makeNamespaceDict(new Map(entries), true)
}

/** At least one folder, and whatever the machine's settings add. */
const paths = (folder: Value | undefined): Value => {
  const name = typeof folder === 'string' ? folder : ''
  return makeList([makeUnknown(`folder_paths.get_folder_paths("${name}")[]`, 'machine')], true)
}

const textSet = (texts: readonly string[]): Value => ({
  kind: 'set',
  frozen: false,
  items: new Map(texts.map((text) => [text, text])),
  rest: false,
})
