import { settingKeys, SETTINGS } from './settings.ts'
import type { Setting, SignalboxSettings } from './settings.ts'

/** What is used of commander's Command. */
interface OptionTaker {
  option(flags: string, description: string): unknown
}

/** Gives a command a flag for each setting, or for those of these keys. */
export const addSettingsOptions = <C extends OptionTaker>(command: C, keys: readonly (keyof SignalboxSettings)[] = settingKeys): C => {
  for (const key of keys) {
    const { flags, description } = optionOf(key)
    command.option(flags, description)
  }
  return command
}

/** The values of these flags in what commander parsed, by the settings' names. */
export const settingsFlags = (options: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> => {
  const flags = new Map<string, string>()
  for (const key of settingKeys) {
    const { name } = SETTINGS[key]
    const value = options[name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())]
    if (typeof value === 'string') flags.set(name, value)
  }
  return flags
}

/** Name, default and meaning of each setting, for documentation. */
export const settingsTable = (): readonly { readonly name: string; readonly values: string; readonly default: string; readonly help: string }[] =>
  settingKeys.map((key) => ({ name: SETTINGS[key].name, values: SETTINGS[key].kind.placeholder, default: defaultText(key), help: SETTINGS[key].help }))

const optionOf = (key: keyof SignalboxSettings): { flags: string; description: string } => {
  const { name, kind, help } = SETTINGS[key]
  const fallback = defaultText(key)
  return { flags: `--${name} <${kind.placeholder}>`, description: fallback === '' ? help : `${help} (default: ${fallback})` }
}

const defaultText = <K extends keyof SignalboxSettings>(key: K): string => {
  const { kind, fallback } = SETTINGS[key] as Setting<SignalboxSettings[K]>
  const written = kind.write(fallback)
  return written === undefined || (Array.isArray(written) && written.length === 0) ? '' : String(written)
}
