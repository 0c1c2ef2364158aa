package import FieldpackCore

/// Blocking work on one file that any thread can stop.
package protocol CancellableJob: SendableMetatype {
  associatedtype Report: Sendable

  /// Stops the work from any thread; the running ``run()`` throws `.interrupted`.
  var interrupt: @Sendable () -> Void { get }

  func run() throws(FieldpackError) -> Report
}
