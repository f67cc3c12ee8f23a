import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

import * as ast from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'

/** A value that a file declares: where, and its syntax. */
export interface Declared {
  file: string
  name: string
  node: ast.Node
}

interface Source {
  tree: ast.SourceFile
  /** Values by name: those at the top of the file, and methods. */
  declared: Map<string, ast.Node>
  imported: Map<string, { from: string; name: string }>
  /** Files that are loaded with it. */
  loads: string[]
}

export type Checkout = ReturnType<typeof openCheckout>

/** Opens the sources of a folder. Nothing of it is run, and it needs no packages. */
export const openCheckout = (root: string) => {
  const api = new API({ cwd: root })
  const snapshot = api.updateSnapshot({ openProject: join(root, 'tsconfig.json') })
  const sources = new Map<string, Source>()
  for (const { rootFiles, program } of snapshot.getProjects())
    for (const path of rootFiles) {
      const file = relative(root, path)
      const tree = /^(src|workflows|activities)\//.test(file) && program.getSourceFile(path)
      if (tree) sources.set(file, readSource(file, tree))
    }
  api.close()

  /** Follows a name by imports to where it is declared. */
  const resolve = (file: string, name: string): Declared | undefined => {
    const source = sources.get(file)
    const node = source?.declared.get(name)
    if (node) return { file, name, node }
    const imported = source?.imported.get(name)
    return imported && resolve(imported.from, imported.name)
  }

  /** Lists functions that one names, but not those that it is given. */
  const namedBy = ({ file, node }: Declared): Declared[] => {
    const named: Declared[] = []
    const visit = (part: ast.Node): void => {
      if (ast.isTypeNode(part)) return
      if (ast.isPropertyAccessExpression(part)) return visit(part.expression)
      if (ast.isPropertyAssignment(part)) return visit(part.initializer)
      const value = ast.isIdentifier(part) && resolve(file, part.text)
      if (value && IS_FUNCTION.some((is) => is(value.node))) named.push(value)
      part.forEachChild(visit)
    }
    visit(node)
    return named
  }

  return {
    root,
    sources,
    find: (name: RegExp): Declared[] =>
      [...sources].flatMap(([file, { declared }]) =>
        [...declared].flatMap(([own, node]) => (name.test(own) ? { file, name: own, node } : [])),
      ),
    /** Lists the functions that some reach within so many calls, and themselves. */
    reach(from: readonly Declared[], calls = Infinity): Declared[] {
      const reached = new Map<ast.Node, Declared>()
      let next: readonly Declared[] = from
      for (let depth = 0; next.length > 0 && depth <= calls; depth += 1) {
        const fresh = next.filter(({ node }) => !reached.has(node))
        for (const one of fresh) reached.set(one.node, one)
        next = fresh.flatMap(namedBy)
      }
      return [...reached.values()]
    },
    /** Lists the files that imports lead to from one, those of types apart. */
    loadedWith(entry: string): string[] {
      const loaded = new Set([entry])
      for (const file of loaded)
        for (const other of sources.get(file)?.loads ?? []) loaded.add(other)
      return [...loaded]
    },
    /** Lists the texts of all files below some folders but of what is generated, installed or a test. */
    texts: (...folders: string[]): string[] =>
      folders
        .flatMap((folder) => listFiles(join(root, folder)))
        .map((path) => readFileSync(path, 'utf8')),
  }
}

const IS_FUNCTION = [
  ast.isArrowFunction,
  ast.isFunctionExpression,
  ast.isFunctionDeclaration,
  ast.isClassDeclaration,
]

const readSource = (file: string, tree: ast.SourceFile): Source => {
  const source: Source = { tree, declared: new Map(), imported: new Map(), loads: [] }
  const { declared, imported, loads } = source
  /** Returns the path of a module that is ours. */
  const load = (module: ast.Node | undefined): string | undefined => {
    if (!module || !ast.isStringLiteral(module) || !module.text.startsWith('.')) return undefined
    const from = join(dirname(file), module.text)
    loads.push(from)
    return from
  }
  const visit = (node: ast.Node): void => {
    if (ast.isMethodDeclaration(node) && ast.isIdentifier(node.name) && node.body)
      declared.set(node.name.text, node.body)
    // By `import()`, where it is needed.
    if (ast.isCallExpression(node) && node.expression.kind === ast.SyntaxKind.ImportKeyword)
      load(node.arguments[0])
    node.forEachChild(visit)
  }
  visit(tree)
  for (const statement of tree.statements)
    if (ast.isVariableStatement(statement)) {
      for (const { name, initializer } of statement.declarationList.declarations)
        if (ast.isIdentifier(name) && initializer) declared.set(name.text, initializer)
    } else if (ast.isFunctionDeclaration(statement) || ast.isClassDeclaration(statement)) {
      if (statement.name) declared.set(statement.name.text, statement)
    } else if (ast.isImportDeclaration(statement) || ast.isExportDeclaration(statement)) {
      const isImport = ast.isImportDeclaration(statement)
      const ofTypes = isImport
        ? statement.importClause?.phaseModifier === ast.SyntaxKind.TypeKeyword
        : statement.isTypeOnly
      const from = ofTypes ? undefined : load(statement.moduleSpecifier)
      if (from === undefined) continue
      const names = isImport ? statement.importClause?.namedBindings : statement.exportClause
      if (names && (ast.isNamedImports(names) || ast.isNamedExports(names)))
        for (const { name, propertyName = name } of names.elements)
          imported.set(name.text, { from, name: propertyName.text })
    }
  return source
}

const LEFT_OUT = /^(node_modules|generated|dist|test)$/

const listFiles = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) return [path]
    return LEFT_OUT.test(entry.name) ? [] : listFiles(path)
  })
