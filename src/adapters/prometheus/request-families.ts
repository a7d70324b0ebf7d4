import type { Registry } from 'prom-client'
import {
  FIRST_TOKEN_SECONDS, INPUT_TOKENS, NORMALISED_TOKEN_SECONDS, OUTPUT_TOKENS, REQUEST_BYTES, REQUEST_SECONDS, RESPONSE_BYTES, TOKEN_SECONDS,
} from './buckets.ts'
import { CounterFamily, GaugeFamily, HistogramFamily } from './family.ts'
import type { HistogramCell, NumberCell } from './family.ts'
import { PREFIX } from './observations.ts'

/** Combinations of model, target model, fairness id and priority that are told apart: each is some 250 lines. */
export const SERIES_MAX = 2000
/** Room for each combination, twice where a label more tells them apart, and for the rest: cells are held, so none may go. */
const ROOM = 2 * (SERIES_MAX + 1)

const LABELS = ['model_name', 'target_model_name', 'fairness_id', 'priority'] as const

/** The cells of one kind of request: model, target model, fairness id and priority. */
export interface RequestSeries {
  readonly values: readonly string[]
  readonly total: NumberCell
  readonly running: NumberCell
  readonly seconds: HistogramCell
  readonly requestBytes: HistogramCell
  readonly responseBytes: HistogramCell
  readonly inputTokens: HistogramCell
  readonly cachedTokens: HistogramCell
  readonly outputTokens: HistogramCell
  readonly normalisedTokenSeconds: HistogramCell
  readonly tokenSeconds: HistogramCell
  readonly firstTokenSeconds: { readonly streaming: HistogramCell; readonly whole: HistogramCell }
}

/** The metrics of requests that llm-d has, under its names. */
export class RequestFamilies {
  private readonly registry: Registry
  private readonly total: CounterFamily
  private readonly errors: CounterFamily
  private readonly running: GaugeFamily
  private readonly histograms: Readonly<Record<'seconds' | 'requestBytes' | 'responseBytes' | 'inputTokens' | 'cachedTokens' | 'outputTokens' | 'normalisedTokenSeconds' | 'tokenSeconds', HistogramFamily>>
  private readonly firstToken: HistogramFamily

  constructor(registry: Registry) {
    this.registry = registry
    this.total = new CounterFamily(described('request_total', 'Requests scheduled.')).register(registry)
    this.errors = new CounterFamily(described('request_error_total', 'Requests that ended in an error.', ['error_code'])).register(registry)
    this.running = new GaugeFamily(described('request_running', 'Requests between being sent and the end of their response.')).register(registry)
    this.histograms = {
      seconds: this.histogram('request_duration_seconds', 'From arrival to the end of the response.', REQUEST_SECONDS),
      requestBytes: this.histogram('request_size_bytes', 'Bytes of request bodies.', REQUEST_BYTES),
      responseBytes: this.histogram('response_size_bytes', 'Bytes of response bodies.', RESPONSE_BYTES),
      inputTokens: this.histogram('request_input_tokens', 'Prompt tokens, as the endpoint counted them.', INPUT_TOKENS),
      cachedTokens: this.histogram('request_cached_tokens', 'Prompt tokens that the endpoint found in its cache.', INPUT_TOKENS),
      outputTokens: this.histogram('request_output_tokens', 'Output tokens, as the endpoint counted them.', OUTPUT_TOKENS),
      normalisedTokenSeconds: this.histogram('request_ntpot_seconds', 'Duration of a request by its output tokens.', NORMALISED_TOKEN_SECONDS),
      tokenSeconds: this.histogram('request_streaming_tpot_seconds', 'Time for each output token behind the first.', TOKEN_SECONDS),
    }
    this.firstToken = new HistogramFamily(described('request_ttft_seconds', 'From arrival to the first byte of the response.', ['streaming']), FIRST_TOKEN_SECONDS).register(registry)
  }

  series(values: readonly string[]): RequestSeries {
    const { histograms } = this
    return {
      values,
      total: this.total.cell(...values),
      running: this.running.cell(...values),
      seconds: histograms.seconds.cell(...values),
      requestBytes: histograms.requestBytes.cell(...values),
      responseBytes: histograms.responseBytes.cell(...values),
      inputTokens: histograms.inputTokens.cell(...values),
      cachedTokens: histograms.cachedTokens.cell(...values),
      outputTokens: histograms.outputTokens.cell(...values),
      normalisedTokenSeconds: histograms.normalisedTokenSeconds.cell(...values),
      tokenSeconds: histograms.tokenSeconds.cell(...values),
      firstTokenSeconds: { streaming: this.firstToken.cell(...values, 'true'), whole: this.firstToken.cell(...values, 'false') },
    }
  }

  countError({ values }: RequestSeries, code: string): void {
    this.errors.find([...values, code])?.add()
  }

  private histogram(name: string, help: string, bounds: readonly number[]): HistogramFamily {
    return new HistogramFamily(described(name, help), bounds).register(this.registry)
  }
}

const described = (name: string, help: string, more: readonly string[] = []) => ({ name: PREFIX + name, help: `[ALPHA] ${help}`, labels: [...LABELS, ...more], seriesMax: ROOM })
