import FieldpackCore

/// Counts what the server has done, for a monitoring program, and writes a line for each request.
final class ServerJournal: Sendable {
  /// What was asked for. Requests are counted by kind, because their paths hold names of people and places.
  enum Kind: String, CaseIterable {
    case document, items, item, tile, sync, login, events, captures, ingest, bundles, map, other

    init(_ path: [String]) {
      switch path.first {
      case nil, "conformance", "api", "functions", "tileMatrixSets": self = .document
      case "collections" where path.count == 3 && path[2] == "items": self = .items
      case "collections" where path.count == 4 && path[2] == "items": self = .item
      case "collections" where path.count == 7 && path[2] == "tiles": self = .tile
      case "collections": self = path.last == "events" ? .events : .document
      case "tiles": self = .tile
      case "sync": self = .sync
      case "login", "logout": self = .login
      case "events": self = .events
      // These answers last as long as the page is open, which is no time of an answer.
      case "sensors" where ["events", "preview"].contains(path.last ?? ""): self = .events
      case "captures", "uploads", "upload": self = .captures
      case "fixes", "motion": self = .ingest
      case "bundles", "bridge": self = .bundles
      case "map": self = .map
      default: self = .other
      }
    }
  }

  private struct Key: Hashable {
    var kind: Kind
    var status: Int
  }

  private struct Times {
    var counts = [Int](repeating: 0, count: ServerJournal.bounds.count + 1)
    var sum = 0.0
  }

  private struct State {
    var requests: [Key: Int] = [:]
    var times: [Kind: Times] = [:]
    var bytes = 0
  }

  fileprivate static let bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10]

  let uptime: @Sendable () -> Duration
  private let line: (@Sendable (String) -> Void)?
  private let state = Locked(State())

  /// - Parameter line: gets a line for each request.
  init(uptime: @escaping @Sendable () -> Duration, line: (@Sendable (String) -> Void)?) {
    (self.uptime, self.line) = (uptime, line)
  }

  /// Notes a request whose client has got the answer, or has closed the connection.
  func note(_ request: ServerRequest, _ status: Int, bytes: Int, since begun: Duration) {
    let seconds = (uptime() - begun) / .seconds(1)
    let kind = Kind(request.path)
    state.withLock { state in
      state.requests[Key(kind: kind, status: status), default: 0] += 1
      let index = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
      state.times[kind, default: Times()].counts[index] += 1
      state.times[kind]?.sum += seconds
      state.bytes += bytes
    }
    line?(Self.line(request, status, seconds))
  }

  // MARK: Lines

  /// The parameters whose values are only numbers and words of the standard, so that a line may show them.
  private static let plain: Set = ["f", "limit", "offset", "crs", "bbox-crs", "filter-lang"]

  static func line(_ request: ServerRequest, _ status: Int, _ seconds: Double) -> String {
    // Who knows the token of a capture may read the capture.
    let path = request.path.enumerated().map { index, part in
      index == 1 && ["captures", "uploads"].contains(request.path[0])
        ? "..." : PercentText.encode(part)
    }
    let query = request.query.map { parameter in
      let value = plain.contains(parameter.name) ? PercentText.encode(parameter.value) : "..."
      return "\(PercentText.encode(parameter.name))=\(value)"
    }
    let target =
      "/" + path.joined(separator: "/")
      + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    let time = Int((seconds * 1000).rounded())
    return DisplayText.visible("\(request.method) \(target) \(status) \(time) ms")
  }

  // MARK: Numbers

  /// The numbers in the text format of Prometheus.
  ///
  /// - Parameter gauges: numbers of the moment, with what each is.
  func text(_ gauges: [(name: String, help: String, value: Int)]) -> String {
    let state = state.withLock { $0 }
    var text = Self.head("requests_total", "counter", "Requests that were answered.")
    let keys = state.requests.keys.sorted {
      ($0.kind.rawValue, $0.status) < ($1.kind.rawValue, $1.status)
    }
    for key in keys {
      let labels = "operation=\"\(key.kind.rawValue)\",status=\"\(key.status)\""
      text += "fieldpack_requests_total{\(labels)} "
      text += "\(state.requests[key] ?? 0)\n"
    }
    text += Self.head(
      "request_seconds", "histogram", "From the head of a request to the end of its answer.")
    for (kind, times) in state.times.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let name = "fieldpack_request_seconds"
      let label = "operation=\"\(kind.rawValue)\""
      var count = 0
      for (index, number) in times.counts.enumerated() {
        count += number
        let bound = index < Self.bounds.count ? "\(Self.bounds[index])" : "+Inf"
        text += "\(name)_bucket{\(label),le=\"\(bound)\"} \(count)\n"
      }
      text += "\(name)_sum{\(label)} \(times.sum)\n\(name)_count{\(label)} \(count)\n"
    }
    text += Self.head("response_bytes_total", "counter", "Bytes of the bodies of answers.")
    text += "fieldpack_response_bytes_total \(state.bytes)\n"
    for gauge in gauges {
      text += Self.head(gauge.name, "gauge", gauge.help)
      text += "fieldpack_\(gauge.name) \(gauge.value)\n"
    }
    return text
  }

  private static func head(_ name: String, _ type: String, _ help: String) -> String {
    "# HELP fieldpack_\(name) \(help)\n# TYPE fieldpack_\(name) \(type)\n"
  }
}
