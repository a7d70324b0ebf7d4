import { defineConfig } from 'eslint/config'
import tseslint from 'typescript-eslint'
import { house } from './house.js'
import { pureFolders, purityRules, puritySyntax } from './purity.js'

const notErasable = [
  { selector: 'TSEnumDeclaration', message: 'Node.js does not strip enums: use a union of literals' },
  { selector: 'TSModuleDeclaration[kind="namespace"]', message: 'Node.js does not strip namespaces: use a module' },
  { selector: 'TSParameterProperty', message: 'Node.js does not strip parameter properties: declare the field' },
]
const namedExports = [
  { selector: 'ExportDefaultDeclaration', message: 'named exports only' },
  { selector: 'ExportSpecifier[exported.name="default"]', message: 'named exports only' },
]

const typescriptFiles = ['**/*.ts', '**/*.tsx']

export default defineConfig(
  { ignores: ['dist/', 'coverage/', '**/node_modules/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: [...typescriptFiles, '**/*.js', '**/*.mjs'],
    plugins: { house },
    rules: {
      'house/path': 'error',
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-restricted-syntax': ['error', ...notErasable],
    },
  },
  {
    files: typescriptFiles,
    plugins: { '@typescript-eslint': tseslint.plugin },
    languageOptions: { parser: tseslint.parser },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-asserted-optional-chain': 'error',
      '@typescript-eslint/ban-ts-comment': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      'no-restricted-syntax': ['error', ...notErasable, ...namedExports],
    },
  },
  {
    files: ['src/**/*.ts', 'src/**/*.tsx', 'machines/**/*.ts', 'schemas/**/*.ts'],
    rules: {
      'house/long-file': ['warn', { max: 300 }],
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 100, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      'house/long-file': ['warn', { max: 500 }],
      'max-lines': ['error', { max: 800 }],
      'no-restricted-properties': [
        'error',
        ...['it', 'test', 'describe'].flatMap((object) =>
          ['skip', 'only', 'todo'].map((property) => ({ object, property, message: 'a test runs, or is not there' })),
        ),
      ],
    },
  },
  {
    files: pureFolders.flatMap((folder) => [`${folder}/**/*.ts`, `${folder}/**/*.js`]),
    // The bans hold the promise of replay: no comment lifts them.
    linterOptions: { noInlineConfig: true },
    rules: { ...purityRules, 'no-restricted-syntax': ['error', ...notErasable, ...namedExports, ...puritySyntax] },
  },
  {
    // Generated from schemas/ and checked for drift; the bans hold for it, the style does not.
    files: ['src/wire/**/*.ts', 'src/wire/**/*.js'],
    rules: { 'max-lines': 'off', 'max-lines-per-function': 'off', 'house/long-file': 'off' },
  },
  {
    files: ['.config/**'],
    rules: { 'no-restricted-syntax': 'off' },
  },
)
