import CArrow
import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What an exported stream refers to.
final class StreamSource: Sendable {
  let layout: ArrowLayout
  private let next: FeaturePieces<ArrowPiece>.Iterator
  private let report: QueryReport
  private let whenReleased: @Sendable () -> Void
  private let message = Locked(ErrorText())

  init(
    _ layout: ArrowLayout, _ pieces: FeaturePieces<ArrowPiece>,
    _ whenReleased: @escaping @Sendable () -> Void
  ) {
    self.layout = layout
    self.whenReleased = whenReleased
    next = pieces.makeAsyncIterator()
    report = pieces.report
  }

  deinit { whenReleased() }

  /// Waits for the next batch; `nil` at the end.
  func nextBatch() throws(FieldpackError) -> ArrowColumns? {
    let next = next
    let batch = try waitFor { () async throws(FieldpackError) in try await next.next()?.batch }
    for column in batch?.misfits ?? [] {
      report.add(
        note: Note(
          "column '\(layout.fields[column].name)' holds values that are not of its type; they "
            + "are null in Arrow"))
    }
    return batch
  }

  /// Remembers an error for ``lastError`` and gives its `errno`.
  func fail(_ error: FieldpackError) -> Int32 {
    message.withLock { $0 = ErrorText(error.message) }
    return error.systemCode
  }

  /// The text of the last error; valid until the next one.
  var lastError: UnsafePointer<CChar>? {
    message.withLock { text in text.start.map { UnsafePointer($0) } }
  }

  /// A text that C reads.
  private final class ErrorText {
    let start: UnsafeMutablePointer<CChar>?

    init(_ text: String? = nil) { start = text.flatMap { strdup($0) } }

    deinit { free(start) }
  }
}

/// Runs `body` in a task and waits for it on this thread.
func waitFor<R: Sendable>(
  _ body: @escaping @Sendable () async throws(FieldpackError) -> R
) throws(FieldpackError) -> R {
  let done = Locked<Result<R, FieldpackError>?>(nil)
  Task.detached {
    let result: Result<R, FieldpackError>
    do throws(FieldpackError) { result = .success(try await body()) } catch {
      result = .failure(error)
    }
    done.change { $0 = result }
  }
  return try done.wait { $0 }.get()
}

extension FieldpackError {
  /// The `errno` that says it best.
  var systemCode: Int32 {
    switch code {
    case .invalidArgument, .unsupported: EINVAL
    case .notFound: ENOENT
    case .permission: EACCES
    case .interrupted: EINTR
    case .busy: EBUSY
    default: EIO
    }
  }
}

// MARK: Callbacks

private func source(_ stream: UnsafeMutablePointer<ArrowArrayStream>?) -> StreamSource? {
  guard let data = stream?.pointee.private_data else { return nil }
  return Unmanaged<StreamSource>.fromOpaque(data).takeUnretainedValue()
}

let getSchema:
  @convention(c) (
    UnsafeMutablePointer<ArrowArrayStream>?, UnsafeMutablePointer<ArrowSchema>?
  ) -> Int32 = { stream, schema in
    guard let source = source(stream), let schema else { return EINVAL }
    source.layout.export(to: schema)
    return 0
  }

let getNext:
  @convention(c) (
    UnsafeMutablePointer<ArrowArrayStream>?, UnsafeMutablePointer<ArrowArray>?
  ) -> Int32 = { stream, array in
    guard let source = source(stream), let array else { return EINVAL }
    do throws(FieldpackError) {
      if let batch = try source.nextBatch() {
        batch.export(to: array)
      } else {
        // An array that is released already says that the stream has ended.
        array.initialize(to: ArrowArray())
      }
      return 0
    } catch {
      return source.fail(error)
    }
  }

let getLastError:
  @convention(c) (UnsafeMutablePointer<ArrowArrayStream>?) -> UnsafePointer<CChar>? = {
    source($0)?.lastError
  }

let releaseStream: @convention(c) (UnsafeMutablePointer<ArrowArrayStream>?) -> Void = {
  guard let stream = $0, let data = stream.pointee.private_data else { return }
  stream.pointee.release = nil
  stream.pointee.private_data = nil
  Unmanaged<StreamSource>.fromOpaque(data).release()
}
