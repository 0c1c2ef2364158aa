package import FieldpackCore

/// Work on one file that blocks, and that any thread can stop.
package protocol CancellableJob: SendableMetatype {
  associatedtype Report: Sendable

  /// Stops the work from any thread; the call under way throws `.interrupted`.
  var interrupt: @Sendable () -> Void { get }

  func run() throws(FieldpackError) -> Report
}
