// Usage: node .tools/layers.ts [ROOT]: holds src and machines to the import rules of .config/layers.ts.
// Prints each forbidden import; exits with 1 when there is one.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cruise } from 'dependency-cruiser'
import type { ICruiseResult, IDependency, IModule } from 'dependency-cruiser'
import { adaptersFolder, layers, sourceFolders } from '../.config/layers.ts'
import type { Layer } from '../.config/layers.ts'

/**
 * Every import under `root` that the table forbids, as lines of text, sorted; empty when all is well.
 * Throws when an import cannot be resolved to a file or package, or when there is nothing to check.
 */
export async function forbiddenImports(root: string): Promise<readonly string[]> {
  const { output } = await cruise(sourceFolders.filter((folder) => existsSync(join(root, folder))), {
    baseDir: root,
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js'], conditionNames: ['import', 'node', 'default', 'types'], exportsFields: ['exports'] },
  })
  const { modules } = output as ICruiseResult
  const own = modules.filter((module) => sourceFolders.some((folder) => isIn(folder, module.source)))
  if (own.length === 0) throw new Error(`no modules under ${sourceFolders.join(' or ')} in ${root}`)
  return [...own.flatMap(faultsOf), ...adapterFaults(own), ...circles(own), ...idleDependencies(own, root)].sort()
}

function faultsOf(module: IModule): readonly string[] {
  const layer = layers.find(({ folder }) => isIn(folder, module.source))
  if (layer === undefined) return [`${module.source}: belongs to no layer of .config/layers.ts`]
  return module.dependencies.flatMap((dependency) => {
    const fault = faultOf(layer, module.source, dependency)
    return fault === undefined ? [] : [`${module.source} > ${dependency.resolved}: ${fault}`]
  })
}

function faultOf(layer: Layer, from: string, dependency: IDependency): string | undefined {
  // Made while the page is built, by .tools/page.ts.
  if (dependency.module.startsWith('virtual:')) return layer.bundled === true ? undefined : 'cannot be resolved'
  if (dependency.coreModule) return layer.node === true ? undefined : `${layer.folder} may not import Node.js modules`
  if (dependency.couldNotResolve) return 'cannot be resolved'
  const library = libraryOf(dependency)
  if (library !== undefined) return libraryFault(layer, library, dependency)
  if (isIn(adaptersFolder, from) && isIn(adaptersFolder, dependency.resolved)) {
    return adapterOf(from) === adapterOf(dependency.resolved) ? undefined : 'adapters do not know each other'
  }
  const to = dependency.resolved
  if (isIn(layer.folder, to) || layer.layers.some((folder) => isIn(folder, to))) return undefined
  if (layer.typesOnly?.some((folder) => isIn(folder, to)) !== true) return `${layer.folder} may not import it`
  return isTypeOnly(dependency) ? undefined : `${layer.folder} may import only types from it`
}

function libraryFault(layer: Layer, library: string, dependency: IDependency): string | undefined {
  if (dependency.dependencyTypes.includes('npm-dev') && layer.bundled !== true) return `${library} is a development dependency`
  if (!dependency.dependencyTypes.includes('npm') && !dependency.dependencyTypes.includes('npm-dev')) return `${library} is not among the dependencies of package.json`
  if (layer.libraries === 'any' || layer.libraries?.includes(library) === true) return undefined
  return `${layer.folder} may not import the library ${library}`
}

function adapterFaults(modules: readonly IModule[]): readonly string[] {
  const librariesByAdapter = new Map<string, Set<string>>()
  for (const module of modules.filter(({ source }) => isIn(adaptersFolder, source))) {
    const libraries = librariesByAdapter.get(adapterOf(module.source)) ?? new Set()
    for (const dependency of module.dependencies) {
      const library = libraryOf(dependency)
      if (library !== undefined) libraries.add(library.startsWith('@') ? library.replace(/\/.*/, '') : library)
    }
    librariesByAdapter.set(adapterOf(module.source), libraries)
  }
  return [...librariesByAdapter].flatMap(([adapter, libraries]) =>
    libraries.size <= 1 ? [] : [`${adaptersFolder}/${adapter}: has more than one outside library: ${[...libraries].sort().join(', ')}`],
  )
}

/** Circles of imports that run, each told once, by its smallest module; imports of types alone do not run. */
function circles(modules: readonly IModule[]): readonly string[] {
  const bySource = new Map(modules.map((module) => [module.source, module]))
  const found = new Map<string, string>()
  const done = new Set<string>()
  const visit = (source: string, path: readonly string[]): void => {
    const start = path.indexOf(source)
    if (start >= 0) {
      const circle = path.slice(start)
      found.set([...circle].sort().join(), `${[...circle, source].join(' > ')}: a circle of imports`)
      return
    }
    if (done.has(source)) return
    for (const dependency of bySource.get(source)?.dependencies ?? []) {
      if (!isTypeOnly(dependency)) visit(dependency.resolved, [...path, source])
    }
    done.add(source)
  }
  for (const source of [...bySource.keys()].sort()) visit(source, [])
  return [...found.values()]
}

/** What every user of the package would install although no source imports it. */
function idleDependencies(modules: readonly IModule[], root: string): readonly string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies?: Record<string, string> }
  const imported = new Set(modules.flatMap((module) => module.dependencies.map(libraryOf)))
  return Object.keys(dependencies)
    .filter((name) => !imported.has(name))
    .map((name) => `package.json: ${name} is a dependency, but no source imports it`)
}

function isIn(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`)
}

function isTypeOnly(dependency: IDependency): boolean {
  return dependency.dependencyTypes.includes('type-only')
}

function adapterOf(path: string): string {
  return path.slice(adaptersFolder.length + 1).split('/')[0] ?? ''
}

/** The npm package of an import, such as `rxjs` or `@scope/name`; undefined for a file of this project. */
function libraryOf(dependency: IDependency): string | undefined {
  return /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)(?!.*\/node_modules\/)/.exec(dependency.resolved)?.[1]
}

if (import.meta.main) {
  const faults = await forbiddenImports(process.argv[2] ?? dirname(import.meta.dirname))
  for (const fault of faults) process.stdout.write(`${fault}\n`)
  process.stdout.write(faults.length === 0 ? 'layers: every import is allowed\n' : `layers: ${faults.length} forbidden\n`)
  process.exitCode = faults.length === 0 ? 0 : 1
}
