// Stands in for the library Polly, which neither Maven nor npm provides. The generated client refers to its retry policies, and uses one
// only if a program sets it.
namespace Polly
{
    using System;
    using System.Threading.Tasks;

    public enum OutcomeType { Successful, Failure }

    public class PolicyResult<T>
    {
        public OutcomeType Outcome { get; set; }
        public T Result { get; set; }
        public Exception FinalException { get; set; }
    }

    public interface ISyncPolicy<T>
    {
        PolicyResult<T> ExecuteAndCapture(Func<T> run);
    }

    public interface IAsyncPolicy<T>
    {
        Task<PolicyResult<T>> ExecuteAndCaptureAsync(Func<Task<T>> run);
    }
}
