import FieldpackField

extension FieldClock {
  /// A task that ends after ``MotionRecorder/groupSeconds``, or at once when it is cancelled.
  func groupPause() -> Task<Void, Never> {
    Task { _ = try? await sleep(for: .seconds(MotionRecorder.groupSeconds)) }
  }
}
