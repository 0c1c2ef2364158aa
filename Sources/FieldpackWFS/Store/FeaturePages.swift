import FieldpackCore
import FieldpackHTTP

/// The features of one layer as a service gives them, page after page where it has pages.
///
/// Every page is asked for by the number of its first feature; addresses of next pages in answers are
/// not followed. Used by one task at a time.
final class FeaturePages {
  private let service: WFSService
  private let plan: WFSLayerPlan
  private let operations: WFSOperations
  private let skip: ((FieldpackError) -> Void)?
  private let writer: FESWriter
  /// How many features are wanted; `nil` is all.
  private var limit: Int?
  private var request: FeatureRequest
  private var shape: FeatureShape
  private var page: Page?
  /// The features of all pages that have ended.
  private var given = 0
  private var isFinished = false
  private var seen = SeenPages()
  /// How many features match, where the service was asked for that.
  private var counted: Int?

  private struct Page {
    var stream: HTTPStream
    var reader: AnswerReader
    /// Whether a row of the page has been seen.
    var hasRows = false
  }

  /// - Parameters:
  ///   - limit: how many features are wanted, where the service can count them.
  ///   - skip: told of features that cannot be read.
  init(
    _ plan: WFSLayerPlan, _ operations: WFSOperations, of service: WFSService, limit: Int?,
    skip: ((FieldpackError) -> Void)?
  ) {
    self.plan = plan
    self.operations = operations
    self.service = service
    self.skip = skip
    self.limit = limit
    writer = plan.writer(service)
    request = plan.request
    shape = FeatureShape(plan.description, of: plan.type, axes: service.axes, asked: request.srs)
    prepare()
  }

  /// Asks for features by their ids instead of by a condition.
  convenience init(
    ids: [String], _ plan: WFSLayerPlan, _ operations: WFSOperations, of service: WFSService
  ) {
    self.init(plan, operations, of: service, limit: nil, skip: nil)
    request.ids = ids
    request.filter = nil
    request.count = nil
  }

  /// Whether all features so far have ids of their own.
  var haveIDs: Bool { shape.hasIDs }

  private var pages: Bool { operations.capabilities.pages && request.ids.isEmpty }

  /// Sets how many features the next request asks for.
  private func prepare() {
    let left = limit.map { $0 - given }
    guard pages else {
      request.count = left
      return
    }
    let size = min(service.pageSize, operations.capabilities.countDefault ?? .max)
    request.count = left.map { min($0, size) } ?? size
  }

  /// The next rows, at least one; `nil` after the last.
  func next() async throws(FieldpackError) -> [ValueRow]? {
    if limit == 0 { isFinished = true }
    while !isFinished {
      try service.checkOpen()
      do throws(FieldpackError) {
        if let rows = try await step() { return rows }
      } catch {
        guard adapts(to: error) else {
          throw error.adding(location: .init(store: service.store, layer: plan.layer))
        }
        page = nil
      }
    }
    return nil
  }

  /// Reads a piece of an answer; `nil` where it brings no row.
  private func step() async throws(FieldpackError) -> [ValueRow]? {
    var page = try await opened()
    guard let bytes = try await page.stream.next() else {
      try await end(page.reader)
      return nil
    }
    try page.reader.push(bytes)
    if request.format != nil, !shape.hasIDs, given == 0, !page.hasRows {
      dropJSON(because: "its GeoJSON has no ids")
      return nil
    }
    let rows = page.reader.takeRows()
    guard let first = rows.first else { return nil }
    if !page.hasRows {
      page.hasRows = true
      self.page = page
      if shape.hasIDs, seen.isRepeated(first.id) { throw repetition }
    }
    for row in rows { seen.add(row) }
    return rows
  }

  private func opened() async throws(FieldpackError) -> Page {
    if let page { return page }
    let encoded = request.encoded(for: operations, writer: writer)
    let stream = try await service.connection.answer(encoded)
    let made = Page(stream: stream, reader: AnswerReader(shape, skip: skip))
    page = made
    return made
  }

  // MARK: The end of a page

  private func end(_ reader: AnswerReader) async throws(FieldpackError) {
    let promised = try reader.finish()
    page = nil
    let returned = reader.count
    given += returned
    if returned > 0, seen.endsRepeated() { throw repetition }
    if let limit, given >= limit {
      isFinished = true
      return
    }
    guard request.ids.isEmpty else {
      isFinished = true
      return
    }
    let matched = try await matched(promised, returned)
    // A service that gives more than it was asked for gives everything. One that gives less may have
    // a limit of its own, so only a page without features is the end where no number is known.
    let isWhole = returned > request.count ?? .max
    if returned == 0 || isWhole || !pages && matched == nil || given >= matched ?? .max {
      if let matched, given < matched { throw incomplete(matched) }
      isFinished = true
      return
    }
    request.start = given
    prepare()
  }

  /// How many features match. In version 1.1.0 only a request of its own tells it.
  private func matched(
    _ promised: Int?, _ returned: Int
  ) async throws(FieldpackError) -> Int? {
    if operations.version == .wfs20 || request.format != nil, let promised { return promised }
    guard !pages, returned > 0 else { return counted }
    if counted == nil {
      var hits = request
      (hits.start, hits.count) = (nil, nil)
      counted = (try? await service.hits(hits, writer)) ?? given
    }
    return counted
  }

  private var repetition: FieldpackError {
    if let counted { return incomplete(counted) }
    return FieldpackError(
      .invalidData, .repeatedPage,
      "the service gives the same features again instead of the next ones")
  }

  private func incomplete(_ matched: Int) -> FieldpackError {
    let count = min(given, matched)
    return FieldpackError(
      .invalidData, .incomplete(matched: matched, given: count),
      "the service says that \(matched) features match, and gives \(count)")
  }

  // MARK: Services that refuse

  /// Asks for less where a service refuses a request before its first feature: first without GeoJSON,
  /// then without the condition, which is tested here anyway.
  private func adapts(to error: FieldpackError) -> Bool {
    guard given == 0, page?.reader.count ?? 0 == 0, Self.isRefusal(error),
      request.ids.isEmpty
        || request.format != nil
    else { return false }
    if request.format != nil {
      dropJSON(because: error.message)
    } else if request.filter != nil {
      request.filter = nil
      limit = nil
      prepare()
      logger.notice("the service gets no condition", ["reason": .text(error.message)])
    } else {
      return false
    }
    return true
  }

  private var logger: Logger { service.connection.logger }

  /// Asks for GML from here on.
  private func dropJSON(because reason: String) {
    service.noteJSONRefused()
    page = nil
    request.format = nil
    request.srs = plan.schema.geometry == nil ? nil : plan.type.srs
    shape = FeatureShape(plan.description, of: plan.type, axes: service.axes, asked: request.srs)
    logger.notice("the service is asked for GML instead of GeoJSON", ["reason": .text(reason)])
  }

  private static func isRefusal(_ error: FieldpackError) -> Bool {
    switch error.wfsFailure {
    case .exception?: return error.code != .permission
    default: break
    }
    guard case .status(let status, _)? = error.httpFailure else { return false }
    return [400, 414, 415, 500, 501].contains(status)
  }
}

/// Remembers the pages of an answer, to notice one that comes again.
private struct SeenPages {
  private var firstIDs: Set<FeatureID> = []
  private var digests: Set<Int> = []
  private var digest = Hasher()

  /// Whether a page began with this id before.
  mutating func isRepeated(_ id: FeatureID) -> Bool { !firstIDs.insert(id).inserted }

  mutating func add(_ row: ValueRow) {
    digest.combine(row.values)
    digest.combine(row.wkb)
  }

  /// Whether the page that ends is one of those before.
  mutating func endsRepeated() -> Bool {
    defer { digest = Hasher() }
    return !digests.insert(digest.finalize()).inserted
  }
}
