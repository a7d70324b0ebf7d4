// The script lies in the page's folder of assets, and knows best where that is.
const here = import.meta.url

/** Address of something in the page's folder, such as "api". */
export const addressInPage = (name: string): string => new URL(`../${name}`, here).href
